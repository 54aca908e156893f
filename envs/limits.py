"""Upper limits for all input from outside; what is larger is refused unread."""

MESSAGE = 300  # characters of an error message

# Files
DESCRIPTION_BYTES = 64 << 10  # config.json of a checkpoint
WEIGHTS_BYTES = 1 << 30  # model.safetensors, or an ONNX file
RECORD_BYTES = 1 << 20  # a saved game
ROWS_BYTES = 1 << 20  # results of a run, whose mistakes are told one by one
RESULTS_BYTES = 16 << 20  # any other file of results
VALUES = 1 << 20  # in JSON, which costs memory for each
SETTINGS_BYTES = 64 << 10  # a YAML file, or a value on the command line
NESTING = 32  # levels of lists and objects within each other, in JSON and YAML
LINE = 10_000  # characters of an answer to a prompt
DIGITS = 40  # of a number that is written out
NAME = 1000  # characters of a policy's name or path in a YAML file
MOVE_SECONDS = 60  # of a move in an animation

# Networks
LAYERS = 64
SYMMETRIES = 120  # of a rule set, where they are asked for
WIDTH = 1 << 14  # units of a layer
FEATURE_SETS = 16
HEADER_BYTES = 64 << 10  # of model.safetensors, before the weights

# Policies
POLICY_NAME = 4096  # characters, as of a path
SEARCH_WORLDS = 1 << 24  # of one decision of a search
SEARCH_SECONDS = 3600
SEARCH_HANDS = 100_000  # in a belief
SEARCH_POSITIONS = 1_000_000  # of a tree
BOT_SECONDS = 86_400.0  # of time for a decision or a game, or of its processor
BOT_MEGABYTES = 1 << 20  # of memory
BOT_LINE = 64 << 10  # bytes of an answer
BOT_LAST_WORDS = 64 << 10  # bytes of its standard error that are kept
BOT_GAMES = 2048  # in one seat at the same time: more than a server has tables
REPLY_BYTES = 4 << 20  # of what a server of language models answers to one request
REQUESTS_AT_ONCE = 256  # to such a server

# Requests
DEAL = 100_000  # outcomes of chance that are given for one game
GAMES = 10**8  # of one evaluation
THREADS = 1024
GAMES_AT_ONCE = 1 << 24  # of a vector environment
STEPS = 10**12  # decisions of a run, and of each part of it that is counted in decisions
ROLLOUT = 1 << 30  # decisions of all games in a rollout
EPOCHS = 10_000
SEARCHED_WORLDS, SEARCHED_ACTIONS = 256, 256  # of a decision that a policy learns from
COEFFICIENT = 1e6  # any weight in the loss, and the learning rate
POLICIES = 64  # named in one list of a YAML file
TRIALS = 10_000  # of a sweep
RUNS = 1000  # best responses to one policy
WORKERS = 10_000  # that play on a Ray cluster
ROUNDS = 10_000  # of a benchmark
SECONDS = 3600.0  # of a round

# The table in the browser
MESSAGE_BYTES = 4 << 10  # of a socket
REQUEST_BYTES = 16 << 10  # of a request, if it holds no game
GAME_BYTES = 2 * RECORD_BYTES  # of a request that holds a game, which JSON may make longer
TABLES = 1000
TABLES_OF_AN_ADDRESS = 250
REPLAYS = 10_000
SENT_REPLAYS = 1000  # of them, games that were sent to be looked at
REPLAY_ACTIONS = 5000  # of a game that is sent to be looked at; usual ones have fewer than 200
SOCKETS = 2000
SOCKETS_OF_AN_ADDRESS = 500
SOCKETS_OF_A_SEAT = 8
REVIEWS = 8  # that wait for their turn
REVIEWS_OF_AN_ADDRESS = 4
REVIEW_WORLDS = 256  # for each move
