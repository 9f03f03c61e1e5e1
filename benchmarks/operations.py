"""Operation counts beside those of the literature (sources in docs)."""
