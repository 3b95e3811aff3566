"""Hosts: the programs that run agents. Each host has one module, and only that module knows its payloads and files."""
