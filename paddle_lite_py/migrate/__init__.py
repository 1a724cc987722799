"""Programs written for others: `import paddle` as this package, names of other versions."""
