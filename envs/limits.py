"""How large the things may be that come from outside; anything larger is refused unread."""

MESSAGE = 300  # characters of an error message

# Files
DESCRIPTION_BYTES = 64 << 10  # config.json of a checkpoint
WEIGHTS_BYTES = 1 << 30  # model.safetensors, or an ONNX file
RECORD_BYTES = 4 << 20  # a saved game
SETTINGS_BYTES = 1 << 20  # a YAML file
SETTINGS_KEYS = 10_000  # in all of a YAML file
NESTING = 32  # levels of lists and objects within each other, in JSON and YAML
DIGITS = 40  # of a number in a file or on the command line

# Networks
LAYERS = 64
WIDTH = 1 << 14  # units of a layer
FEATURE_SETS = 16
HEADER_BYTES = 64 << 10  # of model.safetensors, before the weights

# Policies
POLICY_NAME = 4096  # characters, as of a path
SEARCH_WORLDS = 1 << 24  # of one decision of a search
SEARCH_SECONDS = 3600

# Requests
GAMES = 10**9  # of one evaluation
GAMES_AT_ONCE = 1 << 24  # of a vector environment
