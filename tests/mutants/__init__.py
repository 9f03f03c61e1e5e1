"""Single breaks of the package, each of which the certificate finds."""
