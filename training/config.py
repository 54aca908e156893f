"""The settings of a run, as its YAML file gives them.

A file holds only what differs from the defaults below. A wrong key or value is refused with its
place and, if there is one, the most similar name.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.games.small import spelled_out
from hanamachi.limits import (
    COEFFICIENT,
    EPOCHS,
    FEATURE_SETS,
    GAMES,
    GAMES_AT_ONCE,
    LAYERS,
    NAME,
    NESTING,
    POLICIES,
    ROLLOUT,
    SEARCHED_ACTIONS,
    SEARCHED_WORLDS,
    STEPS,
    WIDTH,
)
from hanamachi.policies.features.base import Features
from hanamachi.policies.names import DATASET, is_bare_folder, is_checkpoint, is_dataset_folder
from hanamachi.policies.networks.canonical import AS_SHOWN, check_symmetries
from hanamachi.policies.networks.head import head_of
from hanamachi.policies.networks.tables import check_size, weight_shapes
from hanamachi.storage.reading import is_nested
from hanamachi.training.config_errors import explain
from hanamachi.training.defaults import EVALUATION_GAMES
from hanamachi.training.learner.fixed_opponents import SHARES_ROUNDED
from hanamachi.training.schedules import Schedule
from hanamachi.training.seeds import Purpose, stream
from hanamachi.training.settings_file import read_settings

SWEEP = "sweep"  # the section that makes the file of a run that of a sweep
SELF, PAST = "self", "past"  # in `opponents`; every other name loads a policy
ACTION_VALUES = "action_values"  # of `critic`
VALUE_SHARE = 10  # at most a tenth of a run's decisions train only the value


def no_truth_value(value: Any) -> Any:
    """The value as it is; ValueError for true or false, which pydantic would read as 1 or 0."""
    parts = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(part, bool) for part in parts):
        raise ValueError("must be neither true nor false")
    return value


Decisions = Annotated[int, Field(gt=0, le=STEPS)]
Coefficient = Annotated[float, Field(ge=0, le=COEFFICIENT)]
Unit = Annotated[float, Field(ge=0, le=1)]
Share = Annotated[Unit, BeforeValidator(no_truth_value)]
Name = Annotated[str, Field(min_length=1, max_length=NAME, pattern=r"^[^\x00]*$")]  # of a policy
# of games, as each deal is played twice
EvenNumber = Annotated[int, Field(gt=1, le=GAMES, multiple_of=2)]


class Model(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    _without_truth_values = field_validator("*", mode="before")(no_truth_value)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], source: str = "settings") -> Self:
        """Check settings; a UserError names the mistakes, as many as it can hold."""
        if is_nested(data, NESTING):
            raise UserError(f"{source}: the settings are nested too deep")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise UserError(explain(error, cls, f"{source}: ")) from error


class PPOSettings(Model):
    """Settings of the learner, with the names of stable-baselines3.

    A schedule is a number, `lin_x` (from x to 0 over the run), or `[from, to]`. The advantages of
    each rollout have standard deviation 1, so `ent_coef` and `magnet.kl_coef` are in these units.
    """

    learning_rate: Schedule = (1e-3, 5e-5)
    """Adam's learning rate."""
    n_steps: Annotated[int, Field(gt=0, le=ROLLOUT)] = 16
    """Decisions per game in a rollout."""
    batch_size: Annotated[int, Field(gt=0, le=ROLLOUT)] = 1024
    """Decisions per minibatch, at most: a rollout is divided into equal parts."""
    n_epochs: Annotated[int, Field(gt=0, le=EPOCHS)] = 4
    """Passes over each rollout."""
    gamma: Unit = 1.0
    """Discount factor per decision."""
    gae_lambda: Unit = 0.95
    """Lambda of generalised advantage estimation."""
    clip_range: Schedule = 0.2
    """Clip range of the probability ratio."""
    ent_coef: Schedule = (0.02, 0.004)
    """Entropy coefficient."""
    vf_coef: Coefficient = 0.5
    """Value-loss coefficient."""
    max_grad_norm: Annotated[float, Field(gt=0, le=COEFFICIENT)] = 0.5
    """Gradient-norm clip."""


class NetworkSettings(Model):
    """The network's layers, and its inputs in addition to the observation."""

    hidden: Annotated[
        tuple[Annotated[int, Field(gt=0, le=WIDTH)], ...], Field(min_length=1, max_length=LAYERS)
    ] = (256, 256)
    """Sizes of the hidden layers."""
    features: Annotated[tuple[Name, ...], Field(max_length=FEATURE_SETS)] = ()
    """Computed feature sets: advice, and for Hanabi belief, convention and hat."""
    symmetries: Literal["none", "canonical"] = "none"
    """With canonical, the network sees symmetric positions, such as those with geisha of equal
    charm exchanged, in one form: what it learns in one form it knows in all."""


class CloneSettings(Model):
    """How the policy or the dataset that `init_from` names is cloned before self-play begins.

    The other settings are those of `ppo`.
    """

    steps: Decisions = 2_000_000
    """Decisions that the policy labels (with DAgger: the policy acts first, then the network), or
    that are taken from the dataset, which may be used several times."""
    learning_rate: Schedule = (1e-3, 1e-4)
    """Adam's learning rate during cloning."""
    value_steps: Annotated[int, Field(ge=0, le=STEPS)] = 40_000
    """Decisions after cloning from which only the value learns: at least one rollout, and at most a
    tenth of the run's `steps`. A run whose tenth is less than a rollout has none."""


class MagnetSettings(Model):
    """A slowly changing policy that self-play stays near, so that it does not go in circles."""

    kind: Literal["start", "average", "refreshed"] = "refreshed"
    """The first policy of the run, the moving average, or the policy at the last refresh."""
    kl_coef: Schedule = 0.0
    """Coefficient of KL(policy || magnet); 0 means no magnet."""
    every: Decisions = 500_000
    """Decisions between two refreshes, for the kind `refreshed`."""


class DistillationSettings(Model):
    """Learning from a search over the policy instead of by PPO, in competitive games.

    The settings of `ppo` still apply to the policy, except `clip_range` and `gae_lambda`. The
    values learn as in PPO.
    """

    share: Unit = 0.0
    """Share of the decisions that are searched; 0 means PPO."""
    worlds: Annotated[int, Field(gt=0, le=SEARCHED_WORLDS)] = 2
    """Sampled worlds in which each action is tried."""
    tried: Annotated[int, Field(gt=1, le=SEARCHED_ACTIONS)] = 5
    """How many of the likeliest actions are tried, at most."""
    kl_coef: Schedule = 0.02
    """Coefficient of KL(policy || policy that was searched), in what a seat earns, -1 to 1."""


class AverageSettings(Model):
    """The moving average of the policy's weights, if it is the magnet or exported."""

    decay: Annotated[float, Field(ge=0, lt=1)] = 0.999
    """Share of the average that each gradient step keeps."""


class PastSettings(Model):
    """Past selves in the other seats, if `opponents` gives `past` a share."""

    every: Decisions = 500_000
    """Decisions between two snapshots."""
    keep: Annotated[int, Field(gt=0, le=POLICIES)] = 4
    """How many of the latest snapshots play."""


class EvaluationSettings(Model):
    """Evaluations during the run, which choose the checkpoint, and the final evaluation.

    All evaluations during the run have the same deals, which are used for nothing else. A later
    checkpoint replaces the kept one unless the best one so far did better beyond noise: one-sided,
    at 95%, by their differences on each deal, with regard to the number of evaluations. In a
    cooperative game the mean of its scores with itself and with each of the `partners` counts.
    """

    every: Decisions = 500_000
    """Decisions between two evaluations."""
    games: EvenNumber = 2_000
    """Games of each evaluation during the run, against each opponent."""
    opponents: Annotated[tuple[Name, ...], Field(min_length=1, max_length=POLICIES)] = ("greedy",)
    """Opponents in a competitive game; the mean win rate against them chooses the checkpoint."""
    partners: Annotated[tuple[Name, ...], Field(max_length=POLICIES)] = ()
    """Partners in a cooperative game, in addition to itself."""
    final_games: EvenNumber = EVALUATION_GAMES
    """Games of each row of the final evaluation, on other deals."""
    final_opponents: Annotated[tuple[Name, ...], Field(max_length=POLICIES)] = (
        "random",
        "greedy",
        "expert",
    )
    """Policies of the final evaluation: opponents, or partners in a cooperative game."""


class Config(Model):
    """One run: a game, a learner, and its evaluation."""

    game: str
    """Id of the game's variant, such as hanamikoji:three_rounds, or a small version's name."""
    options: dict[str, Any] = {}
    """Options of the game that differ from its defaults."""
    seed: Annotated[int, Field(ge=0, lt=1 << 32)] = 0
    """Seed of all random numbers of the run."""
    steps: Decisions = 4_000_000
    """Decisions to learn from; forced moves do not count."""
    num_games: Annotated[int, Field(gt=0, le=GAMES_AT_ONCE)] = 256
    """Games played in parallel."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Device of the network."""
    matmul_precision: Literal["highest", "high", "medium"] = "highest"
    """Precision of float32 matrix products, as in torch.set_float32_matmul_precision: medium uses
    bfloat16, and trains faster, on CPUs that have instructions for it; other CPUs ignore it."""
    opponents: Annotated[dict[Name, Share], Field(max_length=POLICIES)] = {"self": 1.0}
    """Who sits in the other seats, and in which share of the games: self, past, or a policy."""
    augmentation: Literal["none", "other_play"] = "none"
    """With other_play, each seat that learns sees each game under a random symmetry of the rules,
    such as other colours in Hanabi, so that no convention depends on them (Hu et al. 2020)."""
    init_from: Name | None = None
    """Where to start: a checkpoint's folder (with a / in it), the name of one of the
    package's agents, a policy to clone first, or dataset:FOLDER for games to clone first."""
    network: NetworkSettings = NetworkSettings()
    clone: CloneSettings = CloneSettings()
    ppo: PPOSettings = PPOSettings()
    critic: Literal["own", "all", "action_values"] = "own"
    """What the critic sees: the player's own observation, or all hands (centralised critic). With
    action_values it sees all hands and values each action, and the policy learns from all of them,
    not only from the one played."""
    magnet: MagnetSettings = MagnetSettings()
    distillation: DistillationSettings = DistillationSettings()
    average: AverageSettings = AverageSettings()
    export: Literal["policy", "average"] = "policy"
    """What is evaluated and exported: the policy, or the moving average of its weights."""
    past: PastSettings = PastSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    save_every: Decisions = 250_000
    """Decisions between two saves of the whole run. A save also comes after five minutes, at the
    end of the iteration."""

    @model_validator(mode="before")
    @classmethod
    def _spells_a_small_version(cls, data: Any) -> Any:
        """So that a run's file says by itself what is played."""
        given = data.get("options", {}) if isinstance(data, dict) else None
        if not isinstance(given, dict):
            return data
        game, options = spelled_out(data.get("game"), given)
        if game == data.get("game"):
            return data
        listed = {n: list(v) if isinstance(v, tuple) else v for n, v in options.items()}  # as YAML
        return data | {"game": game, "options": listed}

    @field_validator("init_from")
    @classmethod
    def _names_a_start(cls, start: str | None) -> str | None:
        if start == DATASET:
            raise ValueError(f"must name the dataset: write {DATASET}FOLDER")
        if start and is_dataset_folder(start):
            raise ValueError(f"must begin with {DATASET} for a dataset: write {DATASET}{start}")
        if start and is_bare_folder(start):  # in another folder it would not name a checkpoint
            raise ValueError(f"must have a / in it to name a checkpoint's folder: write ./{start}")
        return start

    @field_validator("options")
    @classmethod
    def _in_order(cls, options: dict[str, Any]) -> dict[str, Any]:
        return dict(sorted(options.items()))  # the same settings are the same text

    @field_validator("opponents")
    @classmethod
    def _without_empty_shares(cls, shares: dict[str, float]) -> dict[str, float]:
        return {name: share for name, share in shares.items() if share}

    @model_validator(mode="after")
    def _fits_together(self) -> "Config":
        if abs(sum(self.opponents.values()) - 1) > SHARES_ROUNDED:
            raise ValueError(f"opponents must add up to 1, not {sum(self.opponents.values()):g}")
        self._is_not_too_large()
        self._can_be_evaluated()
        self._has_no_idle_settings()
        if self.distillation.share:
            self._can_be_distilled()
        check_symmetries(self.variant(), self.network.symmetries, self.network.features)
        if self.critic == ACTION_VALUES:
            self._can_value_actions()
        if self.augmentation == "other_play":
            self._can_play_other_play()
        return self

    def _is_for(self, kind: Literal["cooperative", "competitive"], what: str, advice: str) -> None:
        """ValueError if the game is of the other kind than the settings `what` are for."""
        if self.variant().game.cooperative != (kind == "cooperative"):
            raise ValueError(f"{what} for {kind} games, and {self.game} is not one: {advice}")

    def _can_be_evaluated(self) -> None:
        """Those that it meets must be named where the game takes them."""
        given = self.evaluation
        if not (given.final_opponents or self.variant().game.cooperative):
            raise ValueError("evaluation.final_opponents must name at least one policy")
        if given.partners:
            advice = "name them in evaluation.opponents"
            self._is_for("cooperative", "evaluation.partners are", advice)
        if given.opponents != EvaluationSettings().opponents:
            advice = "name them in evaluation.partners"
            self._is_for("competitive", "evaluation.opponents are", advice)

    def _has_no_idle_settings(self) -> None:
        """A setting that would change nothing is a mistake."""
        magnet = self.magnet
        if self.teacher is None and self.clone != CloneSettings():
            raise ValueError(
                "clone has settings, but init_from names no policy or dataset to clone: "
                "remove clone, or set init_from to a policy such as greedy"
            )
        if not self.distillation.share and self.distillation != DistillationSettings():
            raise ValueError("distillation has settings, but no share: set distillation.share")
        # a coefficient that is named may be 0, as in a trial of a sweep without a magnet
        if magnet != MagnetSettings() and "kl_coef" not in magnet.model_fields_set:
            raise ValueError("magnet has settings, but no kl_coef: set magnet.kl_coef")
        if magnet.every != MagnetSettings().every and magnet.kind != "refreshed":
            raise ValueError("magnet.every is for the kind refreshed: remove it, or magnet.kind")
        if self.average != AverageSettings() and "average" not in (magnet.kind, self.export):
            raise ValueError(
                "average has settings, but nothing uses the average: remove average, or set export "
                "or magnet.kind to average"
            )
        if self.ppo.clip_range != PPOSettings().clip_range and self.distillation.share:
            raise ValueError("distillation clips nothing: remove ppo.clip_range")
        if self.past != PastSettings() and PAST not in self.opponents:
            raise ValueError(
                "past has settings, but no share of the games: remove past, or give it a share in "
                "opponents"
            )

    def _can_be_distilled(self) -> None:
        """The search must be possible, and all that it assumes must hold."""
        self._is_for("competitive", "distillation is", "remove it")
        if round(self.distillation.share * self.num_games) == 0:
            raise ValueError(
                f"distillation.share, of {self.num_games} games, is less than one game: set a "
                "larger share, or play more games at once"
            )
        for part in ("redeal", "rewind", "next_event"):
            self.variant().needs(part, "distillation")
        if self.opponents.keys() != {SELF}:
            raise ValueError("distillation takes all seats to play the policy: remove opponents")
        if self.magnet != MagnetSettings():
            raise ValueError("distillation has its own kl_coef: remove magnet")
        if self.ppo.gamma != 1:
            raise ValueError("distillation discounts nothing: set ppo.gamma to 1")
        if self.augmentation != "none":
            raise ValueError("distillation searches games as they are: remove augmentation")

    def _can_value_actions(self) -> None:
        """What the policy learns from must be the critic's values of the game's own actions."""
        if self.distillation.share:
            raise ValueError("distillation learns from its search: set critic to own or all")
        if self.network.symmetries != AS_SHOWN:
            raise ValueError(
                "critic: action_values sees positions as they are: remove network.symmetries"
            )
        if self.ppo.clip_range != PPOSettings().clip_range:
            raise ValueError("critic: action_values clips nothing: remove ppo.clip_range")

    def _can_play_other_play(self) -> None:
        """All players must see the same game under other names of its colours."""
        self._is_for("cooperative", "augmentation: other_play is", "remove it")
        self.variant().needs("symmetries", "augmentation: other_play")
        if "hat" in self.network.features:
            raise ValueError(
                "hat counts colours in one order for all players: remove it from "
                "network.features, or remove augmentation"
            )

    def _is_not_too_large(self) -> None:
        """A rollout and a network must have a size that can be stored."""
        if self.rollout > ROLLOUT:
            raise ValueError(
                f"num_games times ppo.n_steps must be at most {ROLLOUT:,}, not {self.rollout:,}"
            )
        layout = Features(self.variant(), self.network.features).layout
        head = head_of(self.variant().actions, layout)
        check_size(weight_shapes(head, layout.size, self.network.hidden))

    @property
    def teacher(self) -> str | None:
        """The policy or dataset to clone first, if `init_from` names one: all but checkpoints."""
        named = self.init_from is not None and not is_checkpoint(self.init_from)
        return self.init_from if named else None

    @property
    def dataset(self) -> str | None:
        """The folder or name of the dataset to clone first, if `init_from` names one."""
        named = self.init_from is not None and self.init_from.startswith(DATASET)
        return str(self.init_from).removeprefix(DATASET) if named else None

    def variant(self) -> Variant:
        """The variant that is played."""
        return variant(self.game, **self.options)

    @property
    def rollout(self) -> int:
        """Decisions of a rollout."""
        return self.num_games * self.ppo.n_steps

    def in_rollouts(self, steps: int) -> int:
        """The decisions of a phase of `steps`, which ends with a whole rollout."""
        return -(-steps // self.rollout) * self.rollout

    @property
    def value_steps(self) -> int:
        """Decisions of self-play from which only the value learns."""
        most = self.steps // VALUE_SHARE
        if not (self.teacher and self.clone.value_steps) or self.rollout > most:
            return 0
        return min(max(self.clone.value_steps, self.rollout), most)

    @property
    def choosing_seed(self) -> int:
        """The seed of the evaluations that choose the checkpoint."""
        return stream(Purpose.CHOOSING, self.seed) >> 1  # evaluations take 63 bits

    @property
    def final_seed(self) -> int:
        """The seed of the final evaluation, with which `hanamachi evaluate` repeats it."""
        return 2 * self.seed + 2

    @classmethod
    def load(cls, path: Path | str, overrides: Sequence[str] = ()) -> "Config":
        """Read a YAML file; `overrides` replace settings, such as `ppo.learning_rate=1e-3`."""
        data = read_settings(path, overrides)
        if SWEEP in data:
            raise UserError(
                f"{path} holds a sweep, which is several runs: start it with hanamachi sweep"
            )
        return cls.from_dict(data, str(path))

    def to_yaml(self) -> str:
        """Every setting, defaults included."""
        text: str = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)
        return text


def schema() -> str:
    """The JSON schema with which an editor checks and completes a file."""
    return json.dumps(Config.model_json_schema(), indent=2) + "\n"
