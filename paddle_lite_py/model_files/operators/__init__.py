"""The reference's operators by name, each as a function of this package."""
