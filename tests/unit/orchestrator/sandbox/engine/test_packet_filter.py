from __future__ import annotations

import struct

from orchestrator.api.doctor import DoctorStatus, container_way_out
from orchestrator.sandbox.engine.packet_filter import rules


def test_the_filter_is_one_batch_whose_every_message_is_answered() -> None:
    batch, answers = rules()

    kinds, asks_answer = [], 0
    while batch:
        length, kind, flags = struct.unpack_from("=IHH", batch)
        kinds.append(kind)
        asks_answer += bool(flags & 0x4)
        batch = batch[length:]
    assert kinds[0] == 0x10  # begin
    assert kinds[-1] == 0x11  # end: all of it at one moment, or nothing
    assert asks_answer == answers == len(kinds) - 2


def test_doctor_says_where_containers_can_get_out_and_why() -> None:
    assert container_way_out("").state is DoctorStatus.OK
    lacking = container_way_out("the kernel refuses: Protocol not supported")
    assert lacking.state is DoctorStatus.OPTIONAL
    assert "the kernel refuses: Protocol not supported" in lacking.found
    assert lacking.hint
