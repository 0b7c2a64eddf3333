"""What every section of the settings file has in common.

Above: the sections. Below: pydantic.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

EnvName = Annotated[str, Field(max_length=128)]


class Section(BaseModel):
    """A mapping of the file: unknown names are errors, and no error shows what was given."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)
