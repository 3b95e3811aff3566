"""One memory for a team: wings that people share, in PostgreSQL. A person's own palace stays local.

    client/     what runs beside a palace: joins a team, sends shared wings, searches
    server/     what runs beside PostgreSQL: accounts, ingress, the worker, search
    protocol    what both know: paths, limits, the kinds of records that are shared
    identity_provider   how both ask the provider by which people sign on

The client needs no library of PostgreSQL or of tokens: only `server/` imports them.
"""
