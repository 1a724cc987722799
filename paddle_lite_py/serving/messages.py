"""The messages of the Open Inference Protocol over gRPC, built from a table of their fields.

They stand in a pool of their own, so that a process may also load a client that brings the same messages.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# A message, then its fields: number, type ("*": repeated, "a>b": a map) and name. Types that are no
# scalars are messages of this table.
_TABLE = """
ServerLiveRequest:
ServerLiveResponse: 1 bool live
ServerReadyRequest:
ServerReadyResponse: 1 bool ready
ModelReadyRequest: 1 string name, 2 string version
ModelReadyResponse: 1 bool ready
ServerMetadataRequest:
ServerMetadataResponse: 1 string name, 2 string version, 3 *string extensions
TensorMetadata: 1 string name, 2 string datatype, 3 *int64 shape
ModelMetadataRequest: 1 string name, 2 string version
ModelMetadataResponse: 1 string name, 2 *string versions, 3 string platform, 4 *TensorMetadata inputs, 5 *TensorMetadata outputs
InferParameter: 1 bool bool_param, 2 int64 int64_param, 3 string string_param, 4 double double_param, 5 uint64 uint64_param
InferTensorContents: 1 *bool bool_contents, 2 *int32 int_contents, 3 *int64 int64_contents, 4 *uint32 uint_contents, 5 *uint64 uint64_contents, 6 *float fp32_contents, 7 *double fp64_contents, 8 *bytes bytes_contents
InferInputTensor: 1 string name, 2 string datatype, 3 *int64 shape, 4 string>InferParameter parameters, 5 InferTensorContents contents
InferRequestedOutputTensor: 1 string name, 2 string>InferParameter parameters
InferOutputTensor: 1 string name, 2 string datatype, 3 *int64 shape, 4 string>InferParameter parameters, 5 InferTensorContents contents
ModelInferRequest: 1 string model_name, 2 string model_version, 3 string id, 4 string>InferParameter parameters, 5 *InferInputTensor inputs, 6 *InferRequestedOutputTensor outputs, 7 *bytes raw_input_contents
ModelInferResponse: 1 string model_name, 2 string model_version, 3 string id, 4 string>InferParameter parameters, 5 *InferOutputTensor outputs, 6 *bytes raw_output_contents
ModelStreamInferResponse: 1 string error_message, 2 ModelInferResponse infer_response
ModelRepositoryParameter: 1 bool bool_param, 2 int64 int64_param, 3 string string_param, 4 bytes bytes_param
RepositoryIndexRequest: 1 string repository_name, 2 bool ready
ModelIndex: 1 string name, 2 string version, 3 string state, 4 string reason
RepositoryIndexResponse: 1 *ModelIndex models
RepositoryModelLoadRequest: 1 string repository_name, 2 string model_name, 3 string>ModelRepositoryParameter parameters
RepositoryModelLoadResponse:
RepositoryModelUnloadRequest: 1 string repository_name, 2 string model_name, 3 string>ModelRepositoryParameter parameters
RepositoryModelUnloadResponse:
"""  # noqa: E501
_FIELD = re.compile(r"(\d+) (\*?)(?:(\w+)>)?(\w+) (\w+)")
_Field = descriptor_pb2.FieldDescriptorProto
_ONE_OF = {"InferParameter", "ModelRepositoryParameter"}  # only one of their fields is set


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="open_inference.proto", package="inference", syntax="proto3")
    for line in _TABLE.strip().splitlines():
        name, _, fields = line.partition(":")
        message = file.message_type.add(name=name)
        if name in _ONE_OF:
            message.oneof_decl.add(name="parameter_choice")
        for found in _FIELD.finditer(fields):
            _add_field(message, *found.groups())
    return file


def _add_field(message: Any, number: str, repeated: str, key: str | None, kind: str, name: str) -> None:
    label = _Field.LABEL_REPEATED if repeated or key else _Field.LABEL_OPTIONAL
    field = message.field.add(name=name, number=int(number), label=label)
    if key:
        entry = message.nested_type.add(name="".join(p.title() for p in name.split("_")) + "Entry")
        entry.options.map_entry = True
        _add_field(entry, "1", "", None, key, "key")
        _add_field(entry, "2", "", None, kind, "value")
        kind = f"{message.name}.{entry.name}"
    scalar = f"TYPE_{kind.upper()}"
    if scalar in _Field.Type.keys():
        field.type = _Field.Type.Value(scalar)
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".inference.{kind}"
    if message.name in _ONE_OF:
        field.oneof_index = 0


def _classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    names = [line.partition(":")[0] for line in _TABLE.strip().splitlines()]
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"inference.{n}")) for n in names}


MESSAGES = _classes()
