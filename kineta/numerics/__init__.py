"""Numerical integration. Knows neither mechanics nor graphs."""
