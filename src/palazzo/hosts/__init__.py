"""Hosts: the programs that agents live in. One module for each, which alone knows its payloads and files."""
