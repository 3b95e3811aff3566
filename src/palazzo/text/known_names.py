"""Known names: products, packages, given names, and words that look like a name and are not.

Tables only. A word is in them only if it hardly ever means anything else in this spelling; names that are also common
words are in separate tables and need a cue beside them.
"""

from __future__ import annotations


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


PRODUCTS = _words(
    """
    Airflow Airtable Alacritty Alpine Anaconda Android Angular Ansible Anthropic ArangoDB ArgoCD Asana Astro Auth0
    AWS Azure Babel Backblaze Bazel BigQuery Biome Bitbucket BitTorrent Bitwarden Blender Bluetooth Bootstrap
    BorgBackup Bun Caddy Cassandra Celery CentOS Ceph Chrome Chromium CircleCI ClickHouse Cloudflare CloudWatch
    CockroachDB CodeMirror Codex CoffeeScript Confluence Consul Copilot CouchDB Cypress Databricks Datadog Debian
    Deno Discord Django Docker Dropbox DuckDB DynamoDB Eclipse Elasticsearch Electron Elixir Emacs Envoy Erlang
    ESLint esbuild Excel Facebook Fastly Fedora Figma Firebase Firefox Flutter Flyway Forgejo FreeBSD Gatsby GitHub
    GitLab Gitea Gmail Gradle Grafana Graylog Gunicorn Hadoop HAProxy Haskell HashiCorp Heroku Hetzner Homebrew Hugo
    Hyper-V Illustrator Inkscape InfluxDB IntelliJ InnoDB iOS iPadOS iPhone iPad Istio Jaeger Java JavaScript
    Jenkins Jest JetBrains JetStream Jira jQuery Julia Jupyter Kafka Keycloak Kibana Kotlin Kubernetes Laravel LaTeX
    LibreOffice Linux Litestream Logstash Lua macOS MacBook Magento Mailchimp Mailgun MariaDB MATLAB Mattermost
    Maven Memcached Meilisearch Metabase Microsoft MinIO Minikube MongoDB Mosquitto MySQL NATS Neo4j Neovim NestJS
    Netlify Netscape Next.js Nextcloud nginx Nginx NixOS Node.js NodeJS Nomad Notepad++ Nuxt NVIDIA Okta Ollama
    OpenAI OpenBSD OpenShift OpenSSL OpenSearch OpenStack OpenTelemetry OpenVPN OpenZFS PagerDuty Perl PgBouncer
    pgvector Photoshop PHP PHPUnit PlanetScale Playwright Podman PostGIS Postgres PostgreSQL Postman PowerPoint
    PowerShell Prettier Prisma Prometheus ProseMirror Pulumi Puppeteer PyCharm PyPI Python PyTorch Qdrant QEMU
    RabbitMQ Raspbian React Redis Redshift Redux RHEL RocksDB Rollup Ruby RxJS Safari Salesforce Scala Scylla
    Selenium SendGrid Sentry Shopify Sidekiq Skaffold Slack Snyk Solaris SolidJS Solr SonarQube Spotify SQLite
    SQLAlchemy Stripe Storybook StackOverflow Sublime Supabase Svelte SvelteKit Symfony Tailwind Tauri TensorFlow
    Terraform Terragrunt Thunderbird TimescaleDB TinyGo Tomcat Traefik Trello Tumblr Twilio TypeScript Ubuntu
    Vagrant Valkey Varnish Vercel VirtualBox Vite Vitest VMware vLLM Vue Wayland WebKit Webpack WhatsApp WireGuard
    WordPress Wireshark Xcode YouTube Zabbix Zendesk ZooKeeper LangChain LlamaIndex OpenSUSE XFCE KDE GNOME GIMP
    Bitnami Fly.io Hasura Strapi Contentful Algolia Typesense Weaviate Pinecone Milvus Cloudinary Mapbox Leaflet
    OpenLayers Thanos VictoriaMetrics Telegraf Fluentd Fluentbit Vault Mozilla Google Amazon Ghostty Valgrind Flink
    llama.cpp systemd-resolved cert-manager docker-compose pgAdmin phpMyAdmin restic rclone tmux TiDB SurrealDB
    """
)
"""Programs, services, systems, browsers and languages."""

_PHRASES = """
    Claude Code, Claude Desktop, VS Code, Visual Studio, Visual Studio Code, Android Studio, Let's Encrypt,
    GitHub Actions, GitLab CI, Internet Explorer, Google Chrome, Google Maps, Google Drive, Google Cloud,
    Google Docs, Amazon S3, Azure DevOps, Microsoft Teams, Microsoft Office, Red Hat, Ruby on Rails,
    Spring Boot, Raspberry Pi, Windows Server, Windows Terminal, Apache Kafka, Apache Spark, SQL Server,
    Cloud Run, Google Sheets, Docker Compose, Docker Desktop, Hacker News, Stack Overflow, Apple Silicon,
    Gemini CLI, Redis Streams, Home Assistant, Argo CD, Cloudflare Workers, React Native, Codex CLI,
    Elastic Cloud, Power BI
    """
PHRASES = frozenset(name.strip() for name in _PHRASES.split(","))
"""Products of several words."""

PACKAGES = _words(
    """
    aiohttp aiofiles alembic ansible-lint anyio apexcharts argon2-cffi asyncpg attrs autopep8 autoprefixer axios
    babel-loader beautifulsoup4 better-sqlite3 bcrypt biomejs boto3 botocore bunyan bullmq celery certifi chai-http
    chardet charset-normalizer clap clippy cmake codecov commitlint conda cookiecutter cssnano cython dayjs date-fns
    django-ninja django-rest-framework djangorestframework docutils dotenv drf esbuild eslint eslint-plugin-import
    express-session fastapi fastify filelock flake8 freezegun gevent golangci-lint gunicorn h11 hatchling httpcore
    httpx hypercorn idna isort itsdangerous jinja2 jsdom jsonschema jsonwebtoken kombu knex langchain libsodium
    loguru lodash lxml lz4 markdown-it marshmallow matplotlib mkdocs mocha mongoose msgpack msw mypy nextest nodemon
    numpy nunjucks nuxt oauthlib opentelemetry-sdk opentelemetry-api orjson pandas paramiko passlib pdfminer pg-boss
    pinia pino pip-tools pnpm polars postcss pre-commit prettier-plugin-tailwindcss procrastinate protobuf psutil
    psycopg psycopg2 psycopg2-binary pyarrow pyasn1 pycryptodome pydantic pydantic-settings pyjwt pylint pymongo
    pymysql pypdf pyright pytest pytest-asyncio pytest-cov pytest-mock pytest-xdist pyyaml pyzmq react-dom
    react-query react-router redis-py reqwest respx rollup rspec rubocop ruff rusqlite rustls rxjs scikit-learn
    scipy seaborn serde serde_json serde_yaml setuptools shellcheck simplejson sidekiq sinon socket.io sqlalchemy
    sqlmodel sqlparse sqlx starlette structlog supertest svelte sympy tailwindcss tenacity tokio tomli torchvision
    tqdm tracing-subscriber ts-jest ts-node twine typescript-eslint typer typing-extensions typing_extensions ujson
    undici urllib3 uvicorn uvloop virtualenv vitest vue-router watchfiles weasyprint webpack websockets werkzeug
    winston xgboost yargs zod zstandard zustand pg_trgm apsw pikepdf hypothesis-jsonschema onnxruntime
    sentence-transformers huggingface-hub tiktoken ruamel.yaml pyinstaller sqlite-vec
    """
)
"""Packages whose names are not English words."""

AMBIGUOUS = _words(
    """
    requests rich black click flask celery arrow attrs poetry nox tox invoke fire hypothesis pillow sphinx scrapy
    falcon bottle sanic dash bokeh faker coverage express react vue angular helmet passport chalk commander inquirer
    moment luxon day jest ava mocha chai ink ora got ky superagent sharp multer puppeteer cheerio knex prisma
    sequelize drizzle passport rails devise puma sinatra thor rake rack capistrano anyhow thiserror clap rayon hyper
    actix axum warp rocket diesel sea criterion gin echo fiber chi cobra viper zap logrus testify trio asyncio
    """
)
"""Packages whose names are also words: recognized only if the context shows that a package is meant."""

CUED_PRODUCTS = _words(
    """
    Go Rust Swift Word Pages Windows Elastic Dart Teams Notion Linear Spring Excel Numbers
    """
)
"""Products whose names are also words or begin sentences: recognized only beside a cue, for example a version."""

GIVEN_NAMES = _words(
    """
    Aaron Abdul Abigail Adam Adele Adrian Adriana Agnes Ahmed Aiko Aisha Akira Alan Alastair Albert Alejandro
    Alessandra Alessandro Alex Alexander Alexandra Alexei Alfred Ali Alice Alicia Alina Alison Amanda Amara Amelia
    Amina Amir Amit Amy Ana Anastasia Anders Andre Andrea Andreas Andrei Andrew Andrzej Angela Anika Anita Anja Anke
    Ann Anna Anne Annette Annika Anthony Anton Antoine Antonio Anya Arjun Armin Arne Arthur Arun Asha Ashley Astrid
    Aurelie Axel Ayesha Barbara Bastian Beatrice Ben Benedikt Benjamin Bernard Bernd Bernhard Bettina Bianca Birgit
    Bjarne Björn Boris Brandon Brenda Brian Brigitte Bruno Camille Carl Carla Carlos Carmen Carol Caroline Carsten
    Catherine Cecilia Celine Charles Charlotte Chen Chiara Chloe Chris Christian Christiane Christina Christine
    Christoph Christopher Claire Clara Claudia Claus Clemens Colin Connor Cornelia Cristina Cynthia Daan Dagmar Dan
    Daniel Daniela Danielle Darren David Deborah Deepak Denise Dennis Derek Diana Diego Dieter Dimitri Dirk Dmitri
    Dmitry Dominik Donald Donna Doris Dorothea Dorothy Doug Duncan Dylan Eamon Eduardo Edward Eileen Eleanor Elena
    Eleni Eli Elias Elif Elisa Elisabeth Elizabeth Ella Ellen Elsa Emil Emilia Emilio Emily Emma Emmanuel Enrique
    Enzo Eric Erica Erik Erika Erin Ernst Esther Ethan Eugene Eva Evelyn Ewa Fabian Farid Fatima Federico Felix
    Fernando Filip Fiona Florian Frances Francesca Francesco Francis Francisco Franz Frederik Friedrich Fritz
    Gabriel Gabriela Gareth Gary Georg George Georgia Gerald Gerhard Giorgio Giovanni Giulia Gregor Gregory Greta
    Guido Guillaume Gunnar Günter Gustav Hannah Hannes Hans Harald Harriet Haruka Haruki Harvey Hassan Heather
    Hector Heidi Heike Heinrich Heinz Helen Helena Helga Helmut Hendrik Henri Henrik Henrike Henry Herbert Hermann
    Hiroshi Holger Horst Howard Hugh Ian Ibrahim Ida Idris Igor Ilse Imran Ines Inga Inge Ingo Ingrid Irene Irina
    Isaac Isabel Isabella Isabelle Ivan Ivana Jacob Jacqueline Jacques Jakob Jakub James Jamie Jan Jana Jane Janet
    Janina Jannik Jasmin Jason Jasper Javier Jean Jeff Jeffrey Jennifer Jenny Jens Jeremy Jerome Jessica Jim Joachim
    Joan Joanna Joao João Joe Joel Johan Johann Johanna Johannes John Jonas Jonathan Jorge Jorun José Josef Joseph
    Joshua Juan Judith Julian Juliane Julie Julien Juliette Jun Jürgen Jutta Kai Kaito Kamal Karen Karim Karin Karl
    Karolina Kate Katharina Katherine Kathleen Kathrin Katie Katja Kavya Keiko Keith Kelly Kenji Kenneth Kenta
    Kerstin Kevin Khalid Kim Kirsten Klaus Kofi Konrad Kristin Kristina Kurt Kwame Kyle Lars Laura Lauren Laurent
    Lea Leah Leila Lena Leo Leon Leonard Leonie Leticia Liam Lilian Linda Lisa Lise Liv Lorenzo Lothar Louis Louise
    Luca Lucas Lucia Lucie Luis Luisa Lukas Luke Luz Lydia Madeleine Magdalena Magnus Maja Malik Manfred Manuel
    Manuela Mara Marc Marcel Marco Marcus Margaret Maria Mariam Marie Marina Mario Marion Marius Markus Marlene
    Marta Martha Martin Martina Mateo Matteo Matthew Matthias Matthieu Maurice Max Maximilian Maya Megan Mehmet Mei
    Melanie Melissa Meera Michael Michaela Michel Michelle Miguel Mika Mikael Mike Mikhail Milan Milena Min-jun Mira
    Miriam Mohamed Mohammed Mona Monica Monika Moritz Nadia Nadine Nadja Naomi Natalia Natalie Natasha Nathan Neha
    Neil Nia Nicholas Nick Nicola Nicolas Nicole Niels Nigel Nikita Nikolai Nikos Nils Nina Noah Noor Nora Norbert
    Olaf Ole Oleg Olga Oliver Olivia Omar Oscar Oskar Otto Owen Pablo Paolo Pascal Patricia Patrick Patrik Paul
    Paula Pauline Pavel Pedro Peter Petra Philip Philipp Philippe Pia Pierre Piotr Priya Rachel Rafael Rahul Raj
    Ralf Ramon Rania Raphael Rasmus Ravi Raymond Rebecca Regina Reiner Renate Rene Ricardo Richard Rita Robert
    Roberto Robin Rodrigo Roger Roland Roman Ronald Rosa Rosalie Rosie Roxanne Rudolf Rupert Russell Ruth Ryan
    Sabine Sahil Salma Samantha Samir Samuel Sandra Sandrine Sanjay Sanne Sara Sarah Sascha Satoshi Sean Sebastian
    Selin Selma Serge Sergei Sergey Sergio Seth Shanti Sharon Sheila Shreya Silke Silvia Simon Simone Siobhan Sofia
    Sofie Sonja Sophia Sophie Stefan Stefanie Steffen Stella Stephan Stephanie Stephen Steve Steven Stuart Suki
    Sunita Susan Susanne Suzanne Sven Svenja Svetlana Sylvia Takashi Takeshi Tamara Tanja Tania Tara Tariq Tatiana
    Teresa Theo Theresa Thierry Thomas Thorsten Tiago Tilman Tim Timo Timothy Tina Tobias Tom Tomas Tomasz Torsten
    Tove Tracy Tristan Tuan Ulrich Ulrike Umar Ursula Ute Uwe Valentina Valeria Valerie Vanessa Vera Veronica Victor
    Victoria Viktor Vincent Vinod Viola Virginia Vivian Vladimir Volker Walter Wanda Wei Wendy Werner Wilhelm
    William Wolfgang Xavier Xin Yan Yann Yasmin Yiannis Yoko Yuki Yuri Yusuf Yuto Yvonne Zachary Zahra Zainab Zoe
    Zofia Zsófia
    """
)
"""First names that are not words, months, places or products."""

WORDS_THAT_ARE_NAMES = _words(
    """
    Will May Grace Hope Faith Mark Bill Rob Pat Sue Art Jack Drew Chase Grant Dean Frank Rose Lily Daisy Iris Ivy
    Joy Dawn Eve April June August Rich Ray Gene Miles Chip Skip Guy Earl Duke Sandy Penny Sunny Summer Autumn Angel
    Christian Cliff Dale Glen Hunter Jade Ruby Amber Crystal Ginger Olive Pearl Robin Rusty Victor Viola Wade Max
    Jan Jean Rust Min Reed Sage Sky Star Chuck Bob Tony Ted
    """
)
"""Names that are also words: recognized only with a cue."""

NOT_IDENTIFIERS = _words(
    """
    x86_64 amd64_v1 aarch64_be utf_8 UTF_8 us_east ISO_8859 e2e_tests en_US en_GB de_DE fr_FR ja_JP zh_CN pt_BR
    es_ES C_UTF ChatGPT DevOps DevTools EcmaScript ECMAScript WiFi IoT PhD LaTeX OAuth OpenAPI GraphQL gRPC JSONPath
    WebSocket WebSockets WebAssembly WebGL WebRTC WebAuthn FaceTime PayPal LinkedIn McDonald McKinsey AirPods
    AirDrop MiB GiB KiB TiB kWh GHz MHz kHz QoS SaaS PaaS IaaS BitTorrent TeX iCloud iMac iTunes eBay OpenID OpenMP
    OpenGL OpenPGP DuckDuckGo CamelCase camelCase snake_case PascalCase ReadMe README TODO FIXME VoIP LoRa LoRaWAN
    ZigBee SemVer PhDs APIs URLs UIs IDs CLIs PRs SDKs VMs CPUs GPUs PDFs LLMs MVPs KPIs NoSQL NewSQL MapReduce
    LiDAR XRechnung BibTeX GeoJSON TopoJSON GeoTIFF BigTIFF JSONLines LoCoMo LongMemEval
    """
)
"""Spelled like identifiers, but not identifiers: formats, protocols, units, titles."""

KEYWORDS = _words(
    """
    None True False null true false undefined nil NaN self this super int str float bool bytes dict list tuple set
    object any void string number boolean char long short double unsigned let const var def class func fn function
    return import from export default if else elif for while do switch case break continue pass try except finally
    catch throw raise async await yield lambda with as in is not and or new delete typeof instanceof public private
    protected static final abstract interface enum struct trait impl pub mod use match where type mut ref move
    unsafe extern crate package main print printf println range len map filter reduce async select insert update
    delete from where join on group order by limit offset SELECT FROM WHERE INSERT UPDATE DELETE CREATE DROP ALTER
    TABLE INDEX JOIN ON NULL AND OR NOT SET VALUES INTO unknown never usize isize u8 u16 u32 u64 i8 i16 i32 i64 f32
    f64 byte rune error Promise Option Result Some Ok Err Vec String Box Array Object Number Boolean Map GET POST
    PUT PATCH HEAD OPTIONS ls cd cat rm mv cp mkdir echo sed awk git npm pip yarn curl ssh sudo kill ps top yes no
    on off ok
    """
)
"""Keywords, literals, types and commands that stand in backticks without naming anything of the project."""

EXTENSIONS = _words(
    """
    py pyi pyx ipynb js mjs cjs jsx ts tsx mts cts vue svelte astro html htm css scss sass less json jsonl json5
    jsonc yaml yml toml ini cfg conf config env properties xml xsd svg md mdx rst txt adoc org tex bib csv tsv
    parquet feather sql sqlite sqlite3 db go mod sum rs rb erb rake gemspec php phtml java kt kts scala clj cljs
    groovy gradle swift m mm c h cc cpp cxx hpp hh cs fs fsx vb lua pl pm r jl ex exs erl hrl hs ml mli nim zig d
    dart sh bash zsh fish ps1 bat cmd dockerfile tf tfvars hcl nix proto graphql gql lock log diff patch pdf doc
    docx xls xlsx ppt pptx odt ods png jpg jpeg gif webp avif ico bmp tif tiff mp3 mp4 wav zip tar gz tgz bz2 xz zst
    7z jar war whl egg deb rpm so dll dylib exe wasm pem crt key p12 asc gpg sig map snap service timer plist po pot
    mo heapsnapshot prof heic psd blend obj stl gpx kml geojson shp ttf otf woff woff2 eot template tmpl j2 tpl
    example sample
    """
)
"""File name extensions."""

BARE_FILES = _words(
    """
    Makefile Dockerfile Gemfile Rakefile Procfile Vagrantfile Jenkinsfile Justfile justfile CMakeLists.txt Pipfile
    Brewfile Caddyfile LICENSE CODEOWNERS CHANGELOG go.mod go.sum .gitignore .gitattributes .dockerignore
    .editorconfig .env .npmrc .nvmrc .bashrc .zshrc .profile .prettierrc .eslintrc .babelrc .npmignore .mailmap
    .gitmodules .htaccess .vimrc .netrc .pgpass .python-version .tool-versions
    """
)
"""File names without an extension."""

STANDARD_LIBRARY = _words(
    """
    os sys re json time datetime pathlib typing asyncio subprocess collections functools itertools logging math
    random unittest threading dataclasses contextlib argparse shutil tempfile hashlib sqlite3 abc io enum string
    struct socket urllib http fs path crypto util events stream child_process url assert process buffer std core
    alloc crate self super src app tests __future__ copy csv glob inspect operator pickle queue signal statistics
    textwrap traceback uuid warnings weakref zlib
    """
)
"""Imported modules that are not packages of a registry."""

PROSE = _words(
    """
    and or then it the a an to with from again first once before after if in on for this that
    """
)
"""Words that end a command within a sentence."""

STANDARDS = _words(
    """
    UTF UCS SHA MD AES RSA DES TLS SSL HTTP HTML CSS ISO IEC RFC PEP ASCII CVE CWE GPT UTC GMT IPV COVID DIN EN IEEE
    ECMA ES FIPS PKCS CRC BASE LATIN WINDOWS CP KOI EUC BIG GB MIME X A B C F T V S W H BT DE BR USB RJ CAT PS DDR
    LTE LPT COM TIER PHASE STEP PART TOP MP WAV FIG HMAC BLAKE ED NIST OWASP ANSI RS P R Q AMD ARM I MI M L XX ERR E
    EC DC US EU UK
    """
)
"""Before a hyphen and a number these are standards, not tickets."""

NO_SPEAKERS = _words(
    """
    bot app system note todo fyi ps re edit update warning error info debug slackbot github ci
    """
)
"""Before a colon at the start of a line these are not people."""

NO_HANDLES = _words(
    """
    here channel everyone all media import param return returns property override types since deprecated see author
    app dataclass staticmethod
    """
)
"""After an `@` these are not people: group addressees, decorators, tags of documentation comments."""

WORDS = _words(
    """
    The This That These Those It He She They We You I A An And But Or If When Then So As In On At By For From To Of
    With Not No Yes Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
    July August September October November December Ops Support Legal Marketing Sales Finance Security Customer
    Customers Everybody Nobody Somebody Everyone Someone Design Product Management Engineering Operations Docs Spec
    Review Reviewer Team Who What Which Where Why How There Here Period Deploy Release Build Test Tests Data Code
    Server Client Machine Street Platz University Institute Inc Ltd GmbH AG Corp
    """
)
"""Capitalised words that are not names."""
