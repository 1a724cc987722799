"""The command line of the launcher."""

from .command import launch

if __name__ == "__main__":
    launch()
