"""What is put before an agent without being asked for: what it is told when it wakes up."""
