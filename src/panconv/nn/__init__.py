"""Layers."""

from panconv.nn.authors_conv import AuthorsConv as AuthorsConv
from panconv.nn.authors_pool import AuthorsPool as AuthorsPool
from panconv.nn.drop_nodes import DropNodes as DropNodes
from panconv.nn.dropout import Dropout as Dropout
from panconv.nn.export import to_onnx as to_onnx
from panconv.nn.high_temperature_conv import HighTemperatureConv as HighTemperatureConv
from panconv.nn.hops import num_hops as num_hops
from panconv.nn.lanczos_conv import LanczosConv as LanczosConv
from panconv.nn.linear import Linear as Linear
from panconv.nn.pan_attention import PANAttention as PANAttention
from panconv.nn.pan_conv import PANConv as PANConv
from panconv.nn.pan_edge_attention import PANEdgeAttention as PANEdgeAttention
from panconv.nn.pan_pool import PANPool as PANPool
from panconv.nn.spectral_conv import SpectralConv as SpectralConv
from panconv.nn.stacked import Stacked as Stacked
