"""Injection: what hooks put before an agent without a request, such as the wake-up text."""
