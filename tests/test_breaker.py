"""The breaker: what it lets through, against a model and under threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from makers import Clock

from haystack_integrations.crag.breaker import Breaker, Ticket

THREADS = 50


def failed(breaker: Breaker, times: int = 1) -> None:
    """Let calls that are under way together fail."""
    tickets = [breaker.admit() for _ in range(times)]
    for ticket in tickets:
        assert ticket is not None
        ticket.failed()


def admitted(breaker: Breaker) -> Ticket:
    """A ticket that must be given."""
    ticket = breaker.admit()
    assert ticket is not None
    return ticket


def test_cool_downs_double_up_to_a_quarter_of_an_hour_and_a_success_ends_the_row() -> None:
    """30, 60, 120 ... 900, 900; then 30 again."""
    clock = Clock()
    breaker = Breaker(clock, minimum=100)
    for pause in (30, 60, 120, 240, 480, 900, 900):
        admitted(breaker).failed()
        clock.now += pause - 0.001
        assert breaker.admit() is None
        clock.now += 0.001
    admitted(breaker).succeeded()
    assert breaker.state == "closed"
    admitted(breaker).failed()
    clock.now += 30
    assert breaker.state == "half_open"


def test_a_call_that_fails_after_its_provider_came_back_closes_nothing_again() -> None:
    """It began before the failure that the provider was left alone for, and asks for no time of its own."""
    clock = Clock()
    breaker = Breaker(clock, minimum=100)
    late, asking = admitted(breaker), admitted(breaker)
    admitted(breaker).failed()
    clock.now = 30
    admitted(breaker).succeeded()
    late.failed()
    assert breaker.state == "closed"
    asking.failed(45.0)
    assert breaker.state == "cooldown"


@pytest.mark.parametrize(("asked", "given"), [(0.0, 30), (5.0, 30), (45.0, 45), (7_200.0, 900)])
def test_retry_after_is_kept_when_it_is_longer_and_cut_to_the_longest(asked: float, given: float) -> None:
    """The provider's word counts, within reason."""
    clock = Clock()
    breaker = Breaker(clock)
    admitted(breaker).failed(asked)
    clock.now = given - 0.001
    assert breaker.admit() is None
    assert breaker.reason() == "cooldown"
    clock.now = given
    assert breaker.admit() is not None


def test_half_of_five_calls_failing_opens_it_and_a_probe_closes_it_with_a_clean_slate() -> None:
    """Calls under way together count one by one, but are one failure for the cool-down."""
    clock = Clock()
    breaker = Breaker(clock)
    tickets = [admitted(breaker) for _ in range(5)]
    for ticket in tickets[:2]:
        ticket.succeeded()
    for ticket in tickets[2:4]:
        ticket.failed()
    assert breaker.state == "cooldown"
    tickets[4].failed()
    assert (breaker.state, breaker.reason()) == ("open", "open")
    clock.now = 30
    admitted(breaker).succeeded()
    assert breaker.state == "closed"
    admitted(breaker).failed()
    assert breaker.state == "cooldown"


@pytest.mark.parametrize("failures", [1, 5], ids=["cool-down", "open"])
def test_of_fifty_waiting_threads_one_is_let_through(failures: int) -> None:
    """The others are refused at once."""
    clock = Clock()
    breaker = Breaker(clock)
    failed(breaker, failures)
    clock.now = 30
    gate = threading.Barrier(THREADS)

    def knock() -> Ticket | None:
        gate.wait()
        return breaker.admit()

    with ThreadPoolExecutor(THREADS) as pool:
        tickets = [future.result() for future in [pool.submit(knock) for _ in range(THREADS)]]
    probes = [ticket for ticket in tickets if ticket is not None]
    assert len(probes) == 1
    probes[0].failed()
    assert breaker.admit() is None


def test_calls_are_not_held_up_by_each_other() -> None:
    """Each of 20 calls ends only when all of them have begun."""
    breaker, begun = Breaker(), threading.Barrier(THREADS)

    def call() -> None:
        with admitted(breaker) as ticket:
            begun.wait(30)
            ticket.succeeded()

    with ThreadPoolExecutor(THREADS) as pool:
        for ended in [pool.submit(call) for _ in range(THREADS)]:
            ended.result()


def test_a_probe_that_is_cancelled_is_given_back() -> None:
    """Else nobody would ever ask again."""
    clock = Clock()
    breaker = Breaker(clock)
    failed(breaker)
    clock.now = 30
    with pytest.raises(KeyboardInterrupt), admitted(breaker):
        assert breaker.admit() is None
        raise KeyboardInterrupt
    admitted(breaker).succeeded()
    assert breaker.state == "closed"


def test_only_the_first_verdict_on_a_call_counts() -> None:
    """A late one changes nothing."""
    breaker = Breaker(Clock())
    ticket = admitted(breaker)
    ticket.succeeded()
    ticket.failed()
    ticket.released()
    assert breaker.state == "closed"


class BreakerMachine(RuleBasedStateMachine):
    """The breaker beside a model that keeps the whole history and works everything out from it."""

    @initialize()
    def begin(self) -> None:
        """Start closed."""
        self.clock = Clock()
        self.breaker = Breaker(self.clock)
        self.under_way: list[tuple[Ticket, int, bool]] = []  # with the failures known when given, and whether a probe
        self.outcomes: list[bool] = []  # since the last time it closed after being open
        self.failures = self.row = 0
        self.until: float | None = None
        self.open = False

    @property
    def probing(self) -> bool:
        """Whether the one call that decides is under way."""
        return any(probe for _, _, probe in self.under_way)

    @rule()
    def admit(self) -> None:
        """All pass while nothing is wrong; then nobody, then one."""
        ticket = self.breaker.admit()
        due = self.until is not None and self.clock.now >= self.until and not self.probing
        assert (ticket is not None) == (self.until is None or due)
        if ticket is not None:
            self.under_way.append((ticket, self.failures, due))

    @rule(seconds=st.sampled_from([0.5, 10.0, 30.0, 31.0, 300.0, 900.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += seconds

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        """Only a probe ends a cool-down; only what began after the last failure ends the row."""
        ticket, failures, probe = self.taken(data)
        ticket.succeeded()
        self.outcomes.append(True)
        if failures == self.failures:
            self.row = 0
        if probe:
            self.outcomes = [] if self.open else self.outcomes
            self.until, self.open = None, False

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), retry_after=st.sampled_from([None, 0.0, 20.0, 100.0, 5_000.0]))
    def fail(self, data: st.DataObject, retry_after: float | None) -> None:
        """The longest of what holds already, Retry-After, the doubled cool-down and the wait of an open breaker."""
        ticket, failures, _ = self.taken(data)
        ticket.failed(retry_after)
        self.outcomes.append(False)
        pauses = [min(retry_after or 0.0, 900.0)]
        if failures == self.failures:
            pauses.append(min(30.0 * 2**self.row, 900.0))
            self.failures, self.row = self.failures + 1, self.row + 1
        last = self.outcomes[-20:]
        if len(last) >= 5 and 2 * last.count(False) >= len(last):
            self.open = True
            pauses.append(30.0)
        if max(pauses) > 0:
            self.until = max(self.until or 0.0, self.clock.now + max(pauses))

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """A call that was never judged leaves no trace."""
        self.taken(data)[0].released()

    def taken(self, data: st.DataObject) -> tuple[Ticket, int, bool]:
        """One of the calls under way."""
        return self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))

    @invariant()
    def the_state_is_that_of_the_model(self) -> None:
        """At every step."""
        if self.until is None:
            assert self.breaker.state == "closed"
        elif self.clock.now >= self.until:
            assert self.breaker.state == "half_open"
        else:
            assert self.breaker.state == ("open" if self.open else "cooldown")


TestBreakerAgainstTheModel = BreakerMachine.TestCase
