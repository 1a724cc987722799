"""What `import paddle` finds in the child processes of a program that runs here: it gives its name to this package."""

from paddle_lite_py.migrate.alias import take_over

take_over()
