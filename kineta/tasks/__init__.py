"""What users ask of a system."""
