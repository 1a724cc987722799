"""Wrong calls that users of PaddlePaddle reported as crashes or wrong numbers; see bad_input_cases.py."""

CASES: list[tuple[str, str, str]] = [
    # what a number divides
    ("F.pixel_shuffle(img, 0)", "ValueError", "upscale_factor is 0; expected numbers of at least 1"),
    ("F.pixel_shuffle(img, 3)", "ValueError", "x has 4 channels, which upscale_factor=3 squared does not divide"),
    ("F.channel_shuffle(img, 0)", "ValueError", "groups is 0; expected"),
    ("F.group_norm(img, 0)", "ValueError", "groups is 0; expected"),
    ("F.maxout(img, 0)", "ValueError", "groups is 0; expected"),
    ("F.max_pool2d(img, 0)", "ValueError", "kernel is 0; expected"),
    ("F.max_pool2d(img, 2, stride=0)", "ValueError", "stride is 0; expected"),
    ("F.adaptive_avg_pool2d(img, 0)", "ValueError", "size is 0; expected"),
    ("F.lp_pool2d(img, 0.0, 2)", "ValueError", "p is 0.0; expected"),
    ("F.unfold(img, 0)", "ValueError", "kernel_sizes is 0; expected"),
    ("F.unfold(img, 2, strides=0)", "ValueError", "strides is 0; expected"),
    ("F.temporal_shift(img, 0)", "ValueError", "seg_num is 0; expected"),
    ("F.temporal_shift(img, 2)", "ValueError", "x has 1 pictures, which seg_num=2 does not divide"),
    ("paddle.shard_index(i, 4, 0, 0)", "ValueError", "nshards is 0; expected"),
    *(
        (
            f"paddle.vision.ops.{n}(img, paddle.ones([1, 4]), paddle.to_tensor([1]), {size})",
            "ValueError",
            f"{n}: output",
        )
        for n, size in (("roi_align", 0), ("roi_pool", -1), ("psroi_pool", 0))
    ),
    ("paddle.signal.stft(v, 2, hop_length=0)", "ValueError", "hop_length 0; expected"),
    ("paddle.signal.istft(paddle.ones([2, 3]) * 1j, 2, hop_length=0)", "ValueError", "istft: hop_length is 0"),
    ("paddle.signal.overlap_add(x, 0)", "ValueError", "hop_length is 0; expected at least 1"),
    # positions that are not there
    (
        "F.max_unpool2d(paddle.ones([1, 1, 1, 1]), paddle.to_tensor([[[[9]]]]), 2)",
        "ValueError",
        "indices holds 9 at [0, 0, 0, 0]; expected 0 to 3",
    ),
    ("paddle.shard_index(paddle.to_tensor([[5]]), 4, 2, 0)", "ValueError", "input holds 5 at [0, 0]; expected 0 to 3"),
    ("F.gather_tree(i.reshape([1, 1, 2]), i.reshape([1, 1, 2]) + 4)", "ValueError", "parents holds 4"),
    ("paddle.linalg.lu_unpack(x[:, :2], i)", "ValueError", "y holds 0 at [0]; expected 1 to 2"),
    ("F.margin_cross_entropy(x, i + 2)", "IndexError", "label holds 3 at [1]; expected 0 to 2"),
    ("paddle.geometric.send_u_recv(x, i + 1, i)", "IndexError", "src_index holds 2 at [1]; expected 0 to 1"),
    ("paddle.geometric.send_u_recv(x, i, i + 1)", "IndexError", "dst_index holds 2 at [1]; expected 0 to 1"),
    ("paddle.geometric.send_ue_recv(x, x, i - 1, i)", "IndexError", "src_index holds -1 at [0]; expected 0 to 1"),
    ("paddle.geometric.send_uv(x, x, i, i + 1)", "IndexError", "dst_index holds 2 at [1]; expected 0 to 1"),
    ("paddle.geometric.segment_sum(x, i - 1)", "ValueError", "segment_ids holds -1 at [0]; expected 0 to 0"),
    # what is drawn from
    ("paddle.multinomial(v - 2)", "ValueError", "x holds -1.0 at [0]; expected weights of at least 0"),
    ("paddle.multinomial(v * 0)", "ValueError", "x holds 0 in all categories"),
    ("paddle.bernoulli(v * 2)", "ValueError", "x holds 2.0 at [0]; expected probabilities from 0 to 1"),
    ("paddle.bernoulli(v * float('nan'))", "ValueError", "x holds nan at [0]; expected probabilities"),
    ("paddle.bernoulli(v, p=-0.5)", "ValueError", "x holds -0.5; expected probabilities from 0 to 1"),
    ("paddle.poisson(-v)", "ValueError", "x holds -1.0 at [0]; expected rates of at least 0"),
    # sizes
    ("paddle.split(v, [-1, -1])", "ValueError", "of which one may be -1, the rest"),
    ("paddle.split(v, [5, -1])", "ValueError", "leave nothing for -1; the axis has size 3"),
    ("paddle.bincount(i, minlength=-1)", "ValueError", "minlength is -1; expected at least 0"),
    ("paddle.bincount(i, weights=v)", "ValueError", "weights has the shape [3]; expected that of x, [2]"),
    ("paddle.index_fill(v, paddle.to_tensor([5]), 0, 0.)", "ValueError", "index holds 5 at [0]; expected -3 to 2"),
    ("paddle.index_fill_(v, paddle.to_tensor([[-4]]), 0, 0.)", "ValueError", "index holds -4 at [0, 0]"),
    ("paddle.select_scatter(x, v, 0, 9)", "IndexError", "index is 9; expected -"),
    ("paddle.scatter_nd(paddle.to_tensor([[9]]), v[:1], [3])", "IndexError", "column 0 of index holds 9 at [0]"),
    ("paddle.diagonal_scatter(x, v, offset=7)", "ValueError", "the diagonal 7 has 0 elements"),
    ("paddle.narrow(v, 0, 2, 5)", "ValueError", "narrow: start is 2 and length 5; dimension 0 has the size 3"),
    ("paddle.vision.ops.nms(paddle.ones([1, 4]), 0.5, v)", "ValueError", "nms: scores has the shape [3]"),
    ("paddle.vander(v, -1)", "ValueError", "n is -1; expected at least 0"),
]
