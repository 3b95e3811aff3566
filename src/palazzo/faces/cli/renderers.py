"""Renderers: the function that shows the result of an operation on the terminal."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palazzo.features.screen import Screen
    from palazzo.operations.operation import Operation


def renderer(operation: Operation[Any, Any]) -> Callable[[Screen, Any], None]:
    """Return the renderer of an operation's result."""
    return _function(operation, operation.view or f"view:{operation.name}")


def event_renderer(operation: Operation[Any, Any]) -> Callable[[Screen, Any], None]:
    """Return the renderer of the events that an operation reports before it ends."""
    return _function(operation, f"view:{operation.name}_event")


def _function(operation: Operation[Any, Any], entry_point: str) -> Callable[[Screen, Any], None]:
    module, _, function = entry_point.partition(":")
    feature = operation.request.__module__.rpartition(".")[0]
    handler: Callable[[Screen, Any], None] = getattr(importlib.import_module(f"{feature}.{module}"), function)
    return handler
