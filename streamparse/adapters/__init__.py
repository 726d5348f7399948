"""Adapters between streamparse and the programs around it; each is an extra of the distribution."""
