"""A folder for the path of child processes: `import paddle` there is this package."""
