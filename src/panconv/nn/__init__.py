"""Layers."""

from panconv.nn.dropout import Dropout as Dropout
from panconv.nn.linear import Linear as Linear
from panconv.nn.pan_attention import PANAttention as PANAttention
from panconv.nn.pan_conv import PANConv as PANConv
