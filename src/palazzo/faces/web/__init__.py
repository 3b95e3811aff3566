"""The viewer: pages in a browser on this machine, which show what the palace holds. `palazzo view` opens it.

    daemon/viewer_host       opens the viewer in the warm process when a client asks for it, and ends it when unused
    web_server               listens on loopback, on a thread of its own
    web_guard                decides which requests reach a page: host, origin, cookie, form token; sets the headers
    web_sessions             one-time links, cookies and form tokens
    web_app                  the table of addresses, and answers for errors
    pages/                   one module for each page: it reads the address, calls operations, and fills a template
    templates/               HTML, by Jinja2, which escapes every value
    scripts/ and static/     TypeScript, and what the browser gets; `tools/make_viewer.py` builds one from the other

A page has no logic of its own: it calls operations, as the other faces do, and shows their results. Every page can be
read without JavaScript. The scripts add search while typing, keys, live messages, and the graph.
"""
