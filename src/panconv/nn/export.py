"""A model on a fixed graph as an ONNX file, in standard operators alone."""

from __future__ import annotations

import copy
import importlib.util
import os
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.utils._pytree import tree_leaves, tree_map

from panconv.base.checks import check_device, kind_of
from panconv.base.files import check_writable, replacing
from panconv.compute import spmm as _spmm  # noqa: F401  defines the operator that is lowered here
from panconv.graph import Adjacency
from panconv.graph.csr import rows_of


def to_onnx(
    model: nn.Module,
    x: Tensor,  # (N, …)
    graph: Any,
    path: str | os.PathLike[str],
    edge_weight: Tensor | None = None,  # (E,)
) -> None:
    """Writes ``model(x, graph)``, as it evaluates, to an ONNX file whose one input is ``x`` and one output ``y``.

    The graph and the parameters are constants of the file, and all that follows from them alone (degrees, path counts,
    Z) is computed now: what is left is a Gather, a Mul and a ScatterND per step, and the model's own products. N is
    therefore fixed, and so is the rest of x's shape.

    Args:
        model: called as ``model(x, adj)``, with the graph as an `Adjacency`; it may hold any modules of torch besides.
        x: features such as will be given, for their shape and dtype.
        graph: an ``edge_index``, an `Adjacency`, or anything an `Adjacency` is made from.
        path: the file, which is replaced at the end, all at once.
        edge_weight: of an ``edge_index``.
    """
    _check_installed()
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, called as model(x, adj), got {kind_of(model)}")
    if not isinstance(x, Tensor) or x.layout != torch.strided or x.dim() < 2:
        raise TypeError(f"x must be a dense tensor (N, …), a row per node, got {kind_of(x)}")
    check_writable(Path(path))
    adj = Adjacency.of(graph, edge_weight, x.shape[0])
    check_device(x.device, adj.device, "the graph is")
    # The indices of ONNX are int64, and the model here is ours to change.
    adj = tree_map(lambda t: t if t.is_floating_point() else t.long(), adj.detach().to("cpu"))
    on_graph, x = _OnGraph(copy.deepcopy(model).cpu().eval(), adj), x.detach().cpu()
    with torch.no_grad(), warnings.catch_warnings():
        y = on_graph(x)  # refuses what is wrong in plain words, and fills the graph's cache
        if not isinstance(y, Tensor):
            raise TypeError(f"model must return one tensor, got {kind_of(y)}: wrap it in a module that returns one")
        warnings.simplefilter("ignore")  # torch, about itself
        rest = _traced(on_graph, x, y)
        written = torch.onnx.export(rest, (x,), dynamo=True, verbose=False, input_names=["x"], output_names=["y"])
    assert written is not None
    with replacing(Path(path)) as temporary:
        written.save(temporary, external_data=False)


def _traced(on_graph: nn.Module, x: Tensor, y: Tensor) -> torch.fx.GraphModule:
    """The operations on x that lead to y, and nothing else; refused where they do not lead there."""
    remedy = "build it of PANConv, PAN and modules that torch.export takes"
    try:
        program = torch.export.export(on_graph, (x,))
    except Exception as error:  # whatever it met in a model of any kind
        said = (str(error).splitlines() or [""])[0]
        raise ValueError(
            f"model cannot be traced by torch.export ({type(error).__name__}: {said}): {remedy}"
        ) from error
    rest = _Folded(program.run_decompositions({torch.ops.panconv.spmm.default: _by_edge})).transform()
    rest.graph.eliminate_dead_code()
    rest.recompile()
    apart, size = (float(t.double().abs().max()) if t.numel() else 0.0 for t in (rest(x)[0] - y, y))
    if not apart <= 1e-3 * size:
        raise ValueError(
            f"model gives other numbers when it is traced, up to {apart:.3g} away, of {size:.3g}: {remedy}"
        )
    return rest


class _OnGraph(nn.Module):
    """A model with its graph, as a function of the features."""

    def __init__(self, model: nn.Module, adj: Adjacency) -> None:
        super().__init__()
        self.model, self.adj = model, adj

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x, self.adj)


def _by_edge(
    crow: Tensor, col: Tensor, value: Tensor, crow_t: Tensor, col_t: Tensor, value_t: Tensor, x: Tensor
) -> Tensor:
    """panconv::spmm by a message per edge: Gather, Mul and an adding ScatterND in ONNX."""
    messages = x.index_select(0, col) * value.unsqueeze(1)
    zeros = x.new_zeros(crow.numel() - 1, x.size(1))
    return zeros.index_put((rows_of(crow, col.numel()),), messages, accumulate=True)


class _Folded(torch.fx.Transformer):
    """A program in which whatever does not depend on its inputs has been computed.

    ONNX has no operators for some of it, and a runtime would do it again at each call.
    """

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program.graph_module)
        signature, state = program.graph_signature, {**program.state_dict, **program.constants}
        names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        names |= signature.inputs_to_lifted_tensor_constants
        self._known = {name: state[of].detach() for name, of in names.items()}

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self._known[target] if target in self._known else super().placeholder(target, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if any(isinstance(leaf, torch.fx.Proxy) for leaf in tree_leaves((args, kwargs))):
            return self.tracer.create_proxy("call_function", target, args, kwargs)
        return target(*args, **kwargs)


def _check_installed() -> None:
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"to_onnx needs {' and '.join(missing)}: install them with pip install 'panconv[onnx]'")
