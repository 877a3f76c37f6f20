"""What makes a release; RELEASING.md tells the steps."""
