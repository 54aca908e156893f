"""Networks, their checkpoints and ONNX files, and policies that play by them."""
