#!/bin/sh
# Create the team server's role and database. The image of PostgreSQL runs this once, as a superuser.
# The server refuses to run as a superuser: row-level security would not bind it.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$TEAM_DATABASE_PASSWORD" --username "$POSTGRES_USER" <<'SQL'
CREATE ROLE teamserver LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE team OWNER teamserver;
SQL
