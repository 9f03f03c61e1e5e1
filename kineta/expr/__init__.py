"""The graph of scalar expressions, the operators that build it, and the programs it is scheduled to."""
