"""What clients do: captured traffic, the SDK's client, the Inspector and the conformance suite, against real servers."""
