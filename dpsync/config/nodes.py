"""The tree of a YAML file. The types live in dpsync.model.nodes, since the types of kinds read them too."""

from dpsync.model.nodes import Json, Mapping, Node, Scalar, Sequence, Value, plain

__all__ = ["Json", "Mapping", "Node", "Scalar", "Sequence", "Value", "plain"]
