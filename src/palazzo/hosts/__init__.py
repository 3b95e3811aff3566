"""Hosts: the programs that run agents. Each host is one folder, and only that folder knows its payloads and files.

A folder has `host.py`, which describes the host (`host_descriptor`), and a module for each thing that the host has:

    transcript    its transcripts as rows (`FEEDERS` and `COLLECTIONS`, the protocols of `sources/formats`)
    paths         its own files (`files_of`), and for how long it keeps sessions (`delete_after_days`)
    restore       where it looks for a session (`place`), whether it has one (`is_session`, `has_session`), and the file
                  that it imports (`import_file`)
    server        its settings for an MCP server (`SERVER`; `SERVERS`, if they are JSON that Palazzo also writes)
    wiring        the hooks that Palazzo wires into it (`WIRING`)
    install       how it is wired, and how that is found again (`INSTALLER`)
    hooks         its hooks' payloads as events, and reactions as its answers (`adapter`)

The modules beside the folders are what several hosts share. `host_registry` lists the folders, and imports a module of
a folder when it is needed.
"""
