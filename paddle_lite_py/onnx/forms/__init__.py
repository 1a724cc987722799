"""The operators of the reference's model files, as ONNX's operators."""
