"""What clients do: captured traffic, the SDK's client, the Inspector, the conformance suite; all on real servers."""
