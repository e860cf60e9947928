"""Tools in WebAssembly from outside: core modules and components, with fuel, memory and time limits."""

from cortex_sandbox.wasm.component_build import is_for_components, make_component
from cortex_sandbox.wasm.grants import Grants
from cortex_sandbox.wasm.plugin_host import HostRefusal, HttpRequest, HttpResponse, PluginHost
from cortex_sandbox.wasm.wasm_limits import WasmLimits
from cortex_sandbox.wasm.wasm_sandbox import ToolAnswer, WasmSandbox

__all__ = [
    "Grants",
    "HostRefusal",
    "HttpRequest",
    "HttpResponse",
    "PluginHost",
    "ToolAnswer",
    "WasmLimits",
    "WasmSandbox",
    "is_for_components",
    "make_component",
]
