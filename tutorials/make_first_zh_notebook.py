"""Writes ten_minutes.zh.ipynb, the first tutorial in Chinese: python tutorials/make_first_zh_notebook.py."""

from __future__ import annotations

import make_first_notebook
from make_notebook import write

# The texts between the cells of code, which are those of ten_minutes.ipynb.
TEXTS = [
    """# 十分钟了解 paddle_lite_py
张量、梯度、网络、训练步骤，以及编译带来的好处。每个单元格都可以直接运行。""",
    """## 张量
张量保存同一类型的数，运算立即执行。可以由 NumPy 数组创建，也可以转换回 NumPy 数组。""",
    """## 梯度
由需要梯度的张量计算出的结果会被记录下来；`backward()` 沿着这些记录反向传播。""",
    """## 数据
两个半月形，互相嵌套：没有一条直线能把它们分开。""",
    """## 网络
一个层有参数和 `forward` 方法。优化器要知道它负责更新哪些参数。""",
    """## 训练步骤
前向计算、反向传播、更新参数。它以动态图方式执行：在任何地方都可以设断点，或用 `print` 查看数值。""",
    """## 编译
加一个装饰器，整个训练步骤就成为一个程序。代码还是同样的 Python，权重相同，结果也相同；
依赖张量的条件和循环也会成为程序的一部分。""",
    """## 保存与加载""",
    """## 学到了什么
网络对平面上每一点的判断，以及损失的下降过程。""",
]
_TEXTS = iter(TEXTS)
CELLS = [cell if cell.startswith("    ") else next(_TEXTS) for cell in make_first_notebook.CELLS]

if __name__ == "__main__":
    write("ten_minutes.zh.ipynb", CELLS)
