"""The description of a system: pure data, its checks, and its files."""
