"""A folder for the path: `import paddle` there is this package, and `paddlepaddle` an installed distribution.

`python -m paddle_lite_py run` puts it on the path of a program; `alias install` copies it into an environment.
"""
