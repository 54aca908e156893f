"""Networks, their checkpoints and ONNX files, and the policies that play with them."""
