"""What clients are asked to do, for make.py. Ids are text, or {"u64": "42"} where a client has an integer. "$run" in
an id is another text each time that a scenario is played, so that nothing is known of it before."""

import json
import struct

USER = "$run u"


def u64(number):
    return {"u64": str(number)}


def step(call, **args):
    return {"call": call, "args": args}


def scenario(name, *steps):
    return {"name": name, "steps": list(steps)}


def plays(user, *items, **more):
    return step("record_plays", plays=[{"user": user, "item": item} for item in items], **more)


def numbers(*values):
    return [u64(one) for one in values]


# ---- On a server ----

TEXTS = ("007", "42", "-1", "-0", "1e3", "0x10", "1.0", "00", "18446744073709551615", "18446744073709551616",
         "9007199254740993", "caf\u00e9", "cafe\u0301", "a+b", "a b", " a", "a ", "a/b", "/", "//", "a%2Fb", "%41", "%",
         "a?b=c&d", "#x", "a;b", "a,b", "a:b", "a@b", "..", "null", "true", "__proto__", "constructor", "\"q\"", "\\",
         "'", "<b>", "\u0001", "a\tb", "a\nb", "a\r\nb: c", "\u00fc", "\u0436", "\u6f22\u5b57", "\U0001f600", "\u200b",
         "\ufeffa", "\u202e", "x" * 255, "\u00e9" * 127 + "x", "\U0001f600" * 63)
NUMBERS = (0, 1, 42, 2**31 - 1, 2**31, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1)


def of_ids():
    """Each id as a user and as an item, beside one that is nearly the same."""
    for one in [*TEXTS, *numbers(*NUMBERS)]:
        near = "%sx" % one[:60] if isinstance(one, str) else u64(int(one["u64"]) ^ 1)
        yield scenario(
            "the id " + json.dumps(one)[:40],
            plays(USER, one), step("filter", user=USER, items=[near, one]),
            step("filter", user=USER, items=[one, near, "text"]),
            dict(step("erase", user=one), any_outcome=True), {"sleep_ms": 5}, plays(one, "v", u64(7)),
            step("filter", user=one, items=["v", "w"]), step("filter", user=one, items=numbers(6, 7, 8)),
            step("inspect", user=one), step("erase", user=one))
    yield scenario("the text and the number of an id are one", plays(USER, "42", u64(7)),
                   step("filter", user=USER, items=[u64(42), "7", "43", u64(8)]),
                   step("filter", user=USER, items=numbers(42, 7, 8)), step("filter", user=USER, items=["42", "7", "8"]))
    yield scenario("NFC and NFD are two", plays(USER, "caf\u00e9"), step("filter", user=USER, items=["cafe\u0301", "caf\u00e9"]))
    yield scenario("neighbours beyond 2^53 are two", plays(USER, u64(2**53 + 1)),
                   step("filter", user=USER, items=numbers(2**53, 2**53 + 1, 2**53 + 2)),
                   step("filter", user=USER, items=[*numbers(2**53, 2**53 + 1, 2**53 + 2), "x"]),
                   step("filter", user=USER, items=["9007199254740992", "9007199254740993", "9007199254740994"]))


def of_filters():
    seen = plays(USER, "a", "b")
    listed = ["a", "c", "b", "d", "e"]
    mixed = numbers(*range(20))
    yield scenario("a filter of nothing", step("filter", user=USER, items=[]))
    yield scenario("a user that nobody knows", step("filter", user=USER, items=["a"]), step("erase", user=USER))
    yield scenario("what was played is seen", seen, step("filter", user=USER, items=listed))
    yield scenario("repeated candidates count once", seen, step("filter", user=USER, items=["c", "a", "c", "a", "d", "c"]),
                   step("filter", user=USER, items=numbers(1, 2, 1, 1, 3)))
    for limit in (1, 2, 3, 9):
        yield scenario("a limit of %d" % limit, seen, step("filter", user=USER, items=listed, limit=limit),
                       plays(USER, *numbers(0, 1, 4)), step("filter", user=USER, items=mixed, limit=limit))
    yield scenario("what is excluded", seen, step("filter", user=USER, items=listed, exclude=["c", "x", "a"]),
                   plays(USER, u64(2)), step("filter", user=USER, items=mixed[:5], exclude=numbers(0, 1, 99)),
                   step("filter", user=USER, items=mixed[:5], exclude=["1", "y"]),
                   step("filter", user=USER, items=["0", "1", "z"], exclude=[u64(1)]))
    yield scenario("a limit and what is excluded", seen, step("filter", user=USER, items=listed, exclude=["c"], limit=1),
                   step("filter", user=USER, items=mixed, exclude=numbers(0, 1), limit=2))
    for kind, items in (("texts", listed), ("numbers", mixed[:5]), ("both", ["a", u64(1), "c", u64(2)])):
        yield scenario("a filter that records %s" % kind, step("filter", user=USER, items=items, record=True, limit=3),
                       step("filter", user=USER, items=items), step("filter", user=USER, items=items, record=True))
    yield scenario("a filter that says why", plays(USER, "a", u64(5)), step("record_impressions", user=USER, items=["b", u64(6)]),
                   step("filter", user=USER, items=["b", "c", u64(6), u64(7)], explain=True))
    for facts in (["plays"], ["impressions"], ["plays", "impressions"]):
        yield scenario("a filter of " + " and ".join(facts), seen, step("record_impressions", user=USER, items=["c", u64(3)]),
                       step("filter", user=USER, items=listed, facts=facts),
                       step("filter", user=USER, items=numbers(3, 4), facts=facts))
    yield scenario("a filter that verifies", put(), plays(USER, "a", collection="conf-h"),
                   step("filter", user=USER, items=["a", "c"], verify=True, collection="conf-h"),
                   step("filter", user=USER, items=numbers(1, 2), verify=True, collection="conf-h"))
    yield scenario("a filter within time", step("filter", user=USER, items=["a"], deadline_ms=5_000),
                   step("filter", user=USER, items=numbers(1), deadline_ms=5_000))
    yield scenario("a deadline that has passed", seen, step("filter", user=USER, items=listed, deadline_ms=0),
                   step("filter", user=USER, items=mixed[:3], deadline_ms=0),
                   step("filter", user=USER, items=listed, deadline_ms=0, on_error="fail"),
                   step("filter", user=USER, items=mixed[:3], deadline_ms=0, on_error="fail"))
    many = ["m%d" % i for i in range(300)]
    yield scenario("many candidates", plays(USER, *many[::10], *numbers(*range(0, 300, 7))), step("filter", user=USER, items=many),
                   step("filter", user=USER, items=numbers(*range(300))))
    yield scenario("numbers are recorded with texts", step("record_impressions", user=USER, items=["x", u64(2**64 - 1), u64(3)]),
                   step("filter", user=USER, items=["x", "y", u64(2**64 - 1), "18446744073709551614"]),
                   step("filter", user=USER, items=numbers(3, 4, 2**64 - 1)))


def exposed(user, *items, surface=None, **more):
    place = {} if surface is None else {"surface": surface}
    return step("record_exposures", exposures=[dict(place, user=user, item=item) for item in items], **more)


def asks(items, user=USER, **more):
    """A filter; `not_`: its member `not`."""
    if "not_" in more:
        more["not"] = more.pop("not_")
    return step("filter", user=user, items=items, **more)


def of(item, *groups, at=None):
    return dict({"id": item, "of": list(groups)}, **({} if at is None else {"at": at}))


def mark(group, until, user=USER, **more):
    return step("mark", user=user, group=group, until=until, **more)


LATER = {"sleep_ms": 20}  # what is marked in the millisecond of a deletion is deleted


def of_facts():
    on_screen = [{"fact": "exposed"}]
    yield scenario("what was on screen counts where it is asked for", exposed(USER, "a", "b"), asks(["a", "b", "c"]),
                   asks(["a", "b", "c"], not_=on_screen), asks(["c", "b", "a"], not_=on_screen, limit=1),
                   asks(["a", "b", "c"], not_=[]))
    yield scenario("numbers on screen", exposed(USER, *numbers(1, 2**53 + 1, 2**64 - 1), "007"),
                   asks(numbers(1, 2, 2**53, 2**53 + 1, 2**64 - 1), not_=on_screen), asks(["007", "7", u64(7), u64(1)], not_=on_screen))
    yield scenario("where it was on screen", exposed(USER, "a", surface="home"), exposed(USER, "b", surface="s\u00fcche"), exposed(USER, "c"),
                   *[asks(["a", "b", "c", "d"], not_=[{"fact": "exposed", "surface": one}]) for one in ("home", "s\u00fcche", "nowhere")],
                   asks(["a", "b", "c", "d"], not_=[{"fact": "exposed", "surface": "home"}, {"fact": "exposed", "surface": "s\u00fcche"}]))
    yield scenario("on two surfaces", exposed(USER, "a", surface="home"), exposed(USER, "a", surface="search"),
                   *[asks(["a"], not_=[{"fact": "exposed", "surface": one}]) for one in ("home", "search", "x")])
    facts = {name: [{"fact": name}] for name in ("played", "served", "exposed")}
    yield scenario("facts are asked for one by one", plays(USER, "a", u64(1)), step("record_impressions", user=USER, items=["b", u64(2)]), exposed(USER, "c", u64(3)),
                   *[asks(items, not_=one) for one in facts.values() for items in (["a", "b", "c", "d"], numbers(1, 2, 3, 4))],
                   asks(["a", "b", "c", "d"], not_=[*facts["played"], *facts["exposed"]]), asks(["a", "b", "c", "d"], not_=[one[0] for one in facts.values()]))
    yield scenario("spans and numbers of entries", exposed(USER, "a", "b"), asks(["a", "b", "c"], not_=[{"fact": "exposed", "within": "1d", "last": 100}]),
                   asks(["a", "b", "c"], not_=[{"fact": "exposed", "within": "36h"}, {"fact": "played", "window": 1}]))
    yield scenario("a policy says that what was on screen is seen", put("conf-e", exposed_is_seen=True), exposed(USER, "a", collection="conf-e"),
                   asks(["a", "b"], collection="conf-e"), asks(["a", "b"]), asks(["a", "b"], not_=on_screen), asks(["a", "b"], not_=facts["played"], collection="conf-e"))
    yield scenario("exposures of several users", step("record_exposures", exposures=[{"user": "$run %d" % i, "item": "v%d" % (i % 3)} for i in range(6)]),
                   *[asks(["v0", "v1", "v2"], user="$run %d" % i, not_=on_screen) for i in (0, 4)], step("record_exposures", exposures=[]))
    yield scenario("exposures in batches", step("bulk", kind="exposures", batch=4, plays=[{"user": USER, "item": u64(i) if i % 2 else "i%d" % i, "surface": "home"} for i in range(10)]),
                   asks(["i0", "i8", "x", *numbers(9, 8)], not_=[{"fact": "exposed", "surface": "home"}]), asks(["i0"], not_=[{"fact": "exposed", "surface": "x"}]))
    yield scenario("a page of what was not on screen", exposed(USER, "p1", u64(2)), step("fill_page", user=USER, candidates=["p1", "p2", u64(2), u64(3)], need=2, **{"not": on_screen}),
                   asks(["p1", "p2", u64(2), u64(3)]))

    dated = [of("a", "channel:9", at=999), of("b", "channel:9", at=1_000), of("c", "channel:9", at=1_001), of("d", "channel:9"), of("e", "channel:8", at=1), "f"]
    yield scenario("a group is seen up to a time", asks(dated), mark("channel:9", 1_000), asks(dated), asks(dated, explain=True), asks(["a", "b"]))
    yield scenario("a group is seen for ever", mark("channel:9", "always"), asks(dated, explain=True), asks(dated, user="$run w"))
    yield scenario("one of several groups", mark("author:3", "always"), asks([of("a", "channel:9", "author:3"), of("b", "channel:9"), of("c")]),
                   mark("channel:9", 5), asks([of("a", "channel:9", "author:3", at=6), of("b", "channel:9", "x", at=5), of("c", "x", "y", "z", at=5)]))
    yield scenario("ids with groups", mark("g", "always"), asks([of(u64(2**53 + 1), "g"), u64(2**53), of("007", "g"), of("7", "h"), of("caf\u00e9", "h")]),
                   asks([of(u64(2**53 + 1), "h"), of(u64(2**64 - 1), "h", at=2**52)]), asks([of(u64(1), "h"), u64(2)]))
    yield scenario("an id with groups twice", mark("g", "always"), asks([of("a", "g"), of("a", "g"), of("c", "h"), "b", of("c", "h")]))
    yield scenario("groups, and what else is asked", mark("g", "always"), plays(USER, "p"), exposed(USER, "s"),
                   asks([of("a", "g"), of("b", "h"), of("p", "h"), of("s", "h"), "c"], limit=2, exclude=["b"]),
                   asks([of("a", "g"), of("b", "h"), of("p", "h"), of("s", "h")], not_=on_screen),
                   asks([of("a", "g"), of("b", "h"), of("p", "h")], record=True), asks(["a", "b", "p", "s"]))
    yield scenario("a page of groups", mark("g", 1_000), step("fill_page", user=USER, need=3, candidates=[of("a", "g", at=1_000), of("b", "g", at=1_001), of(u64(4), "h"), "c", of("d", "h")]),
                   step("fill_page", user=USER, need=3, candidates=[of("b", "g", at=1_001), of("d", "h"), of("e", "g", at=7)]))
    yield scenario("a search of groups, and of what counts", mark("g", 1_000), plays(USER, "c"), exposed(USER, "d"),
                   *[step("search_unseen", user=USER, k=9, best=[of("a", "g", at=1_000), of(u64(4), "h"), "c", "d", of("e", "g", at=1_001)], **more) for more in ({}, {"not": on_screen})])
    yield scenario("the mark that reaches furthest counts", mark("g", 2_000), mark("g", 1_000), step("marks", user=USER), mark("g", "always"), mark("g", 3_000), step("marks", user=USER))
    odd = "c/\u00fc+ %?#&"
    yield scenario("marks are listed by group", *[mark(one, i + 1) for i, one in enumerate(("b", odd, "a", "\u6f22"))], step("marks", user=USER), step("marks", user=USER, limit=2), step("marks", user=USER, limit=3), step("marks", user=USER, limit=4),
                   step("marks", user="$run w"), asks([of("v", odd, at=2), of("w", odd, at=3)]), LATER, step("unmark", user=USER, group=odd), step("marks", user=USER))
    yield scenario("a mark is deleted", mark("g", "always"), LATER, step("unmark", user=USER, group="g"), step("unmark", user=USER, group="g"), asks([of("a", "g")]),
                   step("marks", user=USER), LATER, mark("g", 5), asks([of("a", "g", at=5), of("b", "g", at=6)]), step("marks", user=USER))
    yield scenario("a number has marks", mark("g", "always", user=u64(2**53 + 1)), asks([of("a", "g"), "b"], user=u64(2**53 + 1)), asks([of("a", "g"), "b"], user="9007199254740993"),
                   LATER, step("unmark", user="9007199254740993", group="g"), LATER, step("erase", user=u64(2**53 + 1)))
    yield scenario("an erasure takes marks", mark("g", "always"), LATER, step("erase", user=USER), step("marks", user=USER), asks([of("a", "g")]))


SCHEMA = step("put_item_schema", fields=[
    {"name": "author", "type": "text", "column": True}, {"name": "published_at", "type": "i64"}, {"name": "score", "type": "f32"}, {"name": "live", "type": "bool"},
    {"name": "tags", "type": "list_text"}, {"name": "parts", "type": "list_i64"}])


def of_items():
    def update(item, version, **more):
        values = {name: more.pop(name) for name in list(more) if name not in ("unset", "replace", "delete", "expires_at")}
        return dict({"id": item, "version": version}, **more, **({"set": values} if values else {}))

    def puts(*updates):
        return step("put_items", updates=list(updates))

    def gets(*items, **more):
        return step("get_items", ids=list(items), **more)
    v, w = "$run v", "$run w"
    yield scenario("items are put and read", SCHEMA, puts(update(v, 7, author="a3", tags=["cats", "s\u00fc"]), update(w, 1, score=0.5, live=True)), gets(v, "$run x", w),
                   gets(w, v, fields=["author", "live"]), gets("$run x"), gets(), puts())
    yield scenario("values of all types", SCHEMA, puts(update(v, 1, author="", published_at=-5, score=-1.5, live=False, tags=[], parts=[1, -2])), gets(v),
                   puts(update(w, 1, published_at={"i64": str(2**53 + 1)}, parts=[{"i64": str(2**63 - 1)}, {"i64": str(-2**63)}, 2**53 - 1])), gets(w))
    yield scenario("ids of items", SCHEMA, puts(update(u64(2**53 + 1), 1, author="n"), update("caf\u00e9 $run", 1, author="c"), update(u64(2**64 - 1), 1, author="m")),
                   gets(u64(2**53 + 1), "9007199254740993", "caf\u00e9 $run", "cafe\u0301 $run", u64(2**64 - 1)), gets("9007199254740993"))
    yield scenario("the highest version of each field counts", SCHEMA, puts(update(v, 7, author="new")), puts(update(v, 5, author="old", live=True)), gets(v, fields=["author", "live"]),
                   puts(update(v, 9, unset=["author"])), puts(update(v, 8, author="between")), gets(v, fields=["author"]))
    yield scenario("an update that is repeated", SCHEMA, *[puts(update(v, 3, author="a"))] * 2, gets(v))
    yield scenario("an item is replaced, and deleted", SCHEMA, puts(update(v, 1, author="a", live=True)), puts(update(v, 2, replace=True, score=2)), gets(v),
                   puts(update(v, 3, delete=True)), gets(v), puts(update(v, 2, author="late")), gets(v), puts(update(v, 4, author="again")), gets(v, fields=["author"]))


def of_sets():
    listed, blocked, sold = ["a", "b", "c", "d"], "$run blocked", "$run sold"

    def puts(name, *items):
        return step("put_set", name=name, items=list(items))

    def gets(name=blocked, **more):
        return step("get_set", name=name, **more)

    def without(*names, items=listed, **more):
        return asks(items, exclude_sets=list(names), **more)

    def drop(name=blocked):
        return step("delete_set", name=name)

    def every():
        return step("sets", prefix="$run")
    yield scenario("a set of items", puts(blocked, "b", "a", u64(42), "42", "b"), gets(), without(blocked), asks(listed), every(), drop(), every(), gets(), without(blocked), drop())
    yield scenario("a set is replaced", puts(blocked, "a", "b"), puts(blocked, "c"), gets(), without(blocked), puts(blocked), gets(), without(blocked), drop())
    yield scenario("a set of numbers", puts(blocked, *numbers(1, 2**53 + 1, 2**64 - 1)), without(blocked, items=numbers(1, 2, 2**53, 2**53 + 1, 2**64 - 1)), without(blocked, items=["1", u64(2)]),
                   without(blocked, items=numbers(1, 2, 3, 4), limit=2, exclude=numbers(3)), gets(), drop())
    odd = "$run c/\u00fc+ %?#&,"
    yield scenario("an odd name of a set", puts(odd, "a", u64(7)), gets(odd), without(odd), without(odd, items=numbers(7, 8)), without("$run c/\u00fc+ %?#&", items=numbers(7, 8)), every(),
                   drop(odd), every())
    yield scenario("a set in pages", puts(blocked, *listed), *[gets(limit=limit) for limit in (2, 3, 4)], drop())
    yield scenario("several sets, and what was seen", puts(blocked, "a", u64(1)), puts(sold, "b", "a", u64(2)), without(blocked, sold, explain=True), plays(USER, "c", u64(3)), without(blocked, sold), every(),
                   without(blocked, sold, items=numbers(1, 2, 3, 4)), without(sold, exclude=["d"]), without(blocked, items=numbers(1, 4), record=True), without(items=numbers(1, 4)), drop(), drop(sold))
    yield scenario("a page without a set", puts(blocked, "a", u64(1)), step("fill_page", user=USER, candidates=["a", "b", u64(1), u64(2)], need=2, exclude_sets=[blocked]),
                   step("search_unseen", user=USER, k=2, best=["a", "b", "c", "d"], exclude_sets=[blocked]), drop())


def grouped(item, *groups):
    return {"id": item, "of": list(groups)}


def cap(n, of="author", within="1d", **more):
    return dict({"of": of, "n": n, "within": within}, **more)


def of_counts():
    authors = [grouped("s%d" % i, "author:%d" % (i % 2)) for i in range(6)]

    def counts(of="author", **more):
        return step("counts", user=USER, of=of, **more)

    def reserves(*items, caps=(cap(2),), **more):
        return step("reserve", user=USER, items=list(items), caps=list(caps), **more)

    def serves(*items, **more):
        return step("record_impressions", user=USER, items=list(items), **more)
    yield scenario("what was served is counted", counts(), serves(*authors, "s9"), counts(), counts("author:1"), counts("ad"), asks(["s0", "s9", "x"]), step("erase", user=USER), counts())
    yield scenario("facts are counted each", step("record_plays", plays=[{"user": USER, "item": "p", "of": ["author:1", "channel:9"]}]), serves(grouped("i", "author:1")), LATER,
                   step("record_exposures", exposures=[{"user": USER, "item": "e", "surface": "home", "of": ["author:2"]}]), counts(), counts("channel"))
    yield scenario("spans of counts", *[step("record_exposures", exposures=[{"user": USER, "item": "e%d" % hours, "of": ["author:1"], "ago_ms": hours * 3_600_000 + 60_000}]) for hours in (0, 1, 25, 200)], counts())
    yield scenario("batches are counted", step("bulk", kind="exposures", batch=2, plays=[{"user": USER, "item": "e%d" % i, "of": ["author:1"]} for i in range(3)]),
                   step("bulk", batch=9, plays=[{"user": USER, "item": u64(i), "of": ["author:1"]} for i in range(4)]), counts())
    yield scenario("counts of a collection", put("conf-c"), serves(grouped("a", "author:1"), collection="conf-c"), counts(collection="conf-c"), counts(), counts(collection="conf-nowhere"))
    yield scenario("a cap of a page", asks(authors, caps=[cap(1)]), asks(authors, caps=[cap(2)], explain=True), asks(authors, caps=[cap(2, of="author:1", within="1h")]), asks(["s0"], caps=[]),
                   asks(authors, caps=[cap(1)], limit=2), asks(numbers(1, 2), caps=[cap(1)]))
    yield scenario("a cap counts what was served", asks(authors, caps=[cap(1)], record=True), counts(), asks(authors, caps=[cap(1)]), asks(authors, caps=[cap(2)]), asks(authors, caps=[cap(1, fact="played")]),
                   asks([grouped(u64(2**53 + 1), "author:7"), grouped(u64(5), "author:0"), "x"], caps=[cap(1)]))
    yield scenario("pages within a cap", *[step("fill_page", user=USER, candidates=authors, need=2, caps=[cap(2)]) for _ in range(3)], counts())
    yield scenario("a search within a cap", serves(grouped("a", "author:1")), step("search_unseen", user=USER, k=3, best=authors, caps=[cap(1)]))
    ads = [grouped("a1", "ad:1"), grouped(u64(2**53 + 1), "ad:1"), grouped("a3", "ad:1"), "a4"]
    yield scenario("a reservation", reserves(*ads, caps=[cap(2, of="ad")]), counts("ad"), asks([ads[2]], caps=[cap(2, of="ad")]), reserves(ads[2], caps=[cap(2, of="ad"), cap(9, of="x", fact="exposed")]),
                   reserves(ads[2], caps=[cap(3, of="ad")], expires_ms=60_000))
    yield scenario("a reservation that ends", reserves(ads[0], expires_ms=1), LATER, counts("ad"), reserves(caps=[]))
    yield scenario("a reservation and its impression count once", reserves(ads[0], caps=[cap(2, of="ad")]), LATER, serves(ads[0]), counts("ad"))
    for name, wrong in (("no kind", cap(1, of="")), ("none at all", cap(0)), ("a span of a second", cap(1, within="1s")), ("an unknown fact", cap(1, fact="liked"))):
        yield scenario("a cap of %s" % name, asks(authors, caps=[cap(1), wrong]), reserves(ads[0], caps=[wrong]))
    yield scenario("counts that are none", counts(""), counts("x" * 65), asks(["a"], caps=[cap(1)] * 9), reserves("a", "", caps=[cap(1)]), reserves("a", expires_ms=0), reserves("a", collection="conf-nowhere"),
                   step("record_plays", plays=[{"user": USER, "item": "a", "of": [""]}]), serves("a", grouped("", "g")))


def of_dry():
    def shown(item, days):
        return {"user": USER, "item": item, "ago_ms": days * 86_400_000}

    def short(need=9, gap="1d", most=2):
        return {"need": need, "gap": gap, "max": most}
    seen = step("record_exposures", exposures=[shown("a", 3), shown("b", 5), shown(u64(2**53 + 1), 4), shown("d", 0)])
    listed, on_screen = ["a", "b", u64(2**53 + 1), "d", "e"], [{"fact": "exposed"}]

    def dry(items=listed, **more):
        return asks(items, not_=on_screen, **more)
    yield scenario("what was seen long ago comes back", seen, dry(when_short=short()), dry(when_short=short(most=1)), dry(when_short=short(gap="100h", most=9)), dry(when_short=short(need=1)),
                   dry(when_short=short(), limit=1), dry(), asks([], when_short=short()), asks(["a", "x", "y"], when_short=short()), asks(numbers(2**53 + 1, 2), when_short=short(), not_=on_screen), asks(numbers(1, 2), when_short=short()))
    yield scenario("repeats are recorded", seen, dry(when_short=short(), record=True), asks(listed, when_short=short()))
    yield scenario("repeats within caps", seen, mark("g", "always"), dry(["a", grouped("b", "author:1"), grouped(u64(2**53 + 1), "author:1"), grouped("d", "g")], when_short=short(most=9), caps=[cap(1)]))
    for name, wrong in (("no need", short(need=0)), ("no gap", short(gap="0d")), ("no repeats", short(most=0))):
        yield scenario("a page that runs dry with %s" % name, asks(["a"], when_short=wrong))


def of_rules():
    v, w, x, y = ["$run %s" % one for one in "vwxy"]
    puts = step("put_items", updates=[{"id": v, "version": 1, "set": {"author": "a1", "score": 0.5, "tags": ["cats"], "live": True}}, {"id": w, "version": 1, "set": {"author": "a1", "published_at": 7, "tags": ["dogs", "cats"]}},
                                      {"id": x, "version": 1, "set": {"author": "a2", "published_at": {"i64": str(2**53 + 1)}, "parts": [1, 2]}}])

    def ruled(items=(v, w, x, y), **more):
        return asks(list(items), **more)
    yield scenario("candidates by what they are", SCHEMA, puts, *[ruled(where=[dict(rule, field=field)]) for field, rule in (
        ("author", {"eq": "a1"}), ("author", {"ne": "a1"}), ("author", {"in": ["a2", "a3"]}), ("published_at", {"ge": 8}), ("published_at", {"le": 8}), ("tags", {"any_of": ["dogs", "x"]}), ("live", {"eq": True}),
        ("live", {"exists": False}), ("score", {"ge": 0.25, "le": 0.5}), ("parts", {"any_of": [2]}), ("published_at", {"eq": {"i64": str(2**53 + 1)}}), ("author", {"in": []}), ("live", {"ne": False}), ("published_at", {"le": 0}))])
    yield scenario("rules together", SCHEMA, puts, ruled(where=[{"field": "author", "eq": "a1"}, {"field": "tags", "any_of": ["dogs"]}], unknown="drop", explain=True), ruled(unknown="drop"), ruled(unknown="keep"), ruled(where=[]),
                   ruled(numbers(1, 2), unknown="drop"), ruled(["1", u64(2)], where=[{"field": "author", "exists": True}]))
    yield scenario("so many of a kind", SCHEMA, puts, ruled(at_most={"field": "author", "n": 1}, explain=True), ruled(at_most={"field": "author", "n": 2}), plays(USER, v), ruled(at_most={"field": "author", "n": 1}), ruled([w, v, x], at_most={"field": "live", "n": 1}, limit=1))
    yield scenario("fields of what is unseen", SCHEMA, puts, plays(USER, w), ruled(fields=["author", "published_at"]), ruled(fields=["parts", "tags"]), ruled([y], fields=["author"]), ruled(fields=[]),
                   step("put_items", updates=[{"id": u64(2**53 + 1), "version": 1, "set": {"author": "n"}}]), ruled(numbers(2**53 + 1), fields=["author"]), ruled([of(x, "g"), y], fields=["author"], record=True, explain=True))
    yield scenario("a page by rules", SCHEMA, puts, step("fill_page", user=USER, candidates=[w, v, x, y], need=3, where=[{"field": "author", "eq": "a1"}], at_most={"field": "author", "n": 1}, unknown="drop"),
                   step("search_unseen", user=USER, k=3, best=[v, w, x, y], where=[{"field": "author", "ne": "a2"}], unknown="drop"), ruled())
    for name, more in (("a field that is none", {"where": [{"field": "nothing", "eq": 1}]}), ("a value of another type", {"where": [{"field": "author", "eq": "a"}, {"field": "author", "ge": 1}]}), ("no comparison", {"where": [{"field": "author"}]}),
                       ("a number of none", {"at_most": {"field": "author", "n": 0}}), ("a list of each", {"at_most": {"field": "tags", "n": 1}}), ("fields that are none", {"fields": ["author", "nothing"]}), ("too many", {"where": [{"field": "author", "eq": "a"}] * 17})):
        yield scenario("a rule with %s" % name, SCHEMA, ruled(**more))


def same(item, *groups, **more):
    return dict({"id": item, "same_as": list(groups)}, **more)


def of_same():
    def played(item, *groups, **more):
        return {"user": USER, "item": item, "same_as": list(groups), **more}

    def record(*events, **more):
        return step("record_plays", plays=list(events), **more)
    original, reposts = played("v1", "src:9"), [same("v2", "src:9"), same("v3", "src:8"), "v4"]
    yield scenario("a repost is seen when its original is", record(original), asks(reposts), asks(reposts, explain=True), asks([same("v1", "src:9"), "v1", "v2"], explain=True), asks(reposts, user="$run w"))
    yield scenario("a play without its groups", plays(USER, "v1"), asks(reposts), asks([same("v1", "src:9"), same("v2", "src:9")]))
    yield scenario("reposts of one page", asks([same("a", "g"), same("b", "g"), "c", same("d", "h", "g")], explain=True), asks([same("a", "g"), same("b", "g")], exclude=["a"], explain=True),
                   asks([same("a", "g"), same("b", "g"), same("c", "h")], limit=2), asks([same("a", "g"), same("a", "g")]))
    yield scenario("reposts of one page are recorded once", asks([same("a", "g"), same("b", "g"), "c"], record=True), asks([same("b", "g"), "a", "c"]))
    yield scenario("numbers with groups that are the same", record(played(u64(2**53 + 1), "src:1")), asks([same(u64(2**64 - 1), "src:1"), u64(2**53), same("007", "src:2")], explain=True), asks(numbers(2**53 + 1, 2**64 - 1)))
    yield scenario("groups of both kinds", mark("channel:9", 5), record(played("a", "src:9", of=["channel:9"])), asks([same("b", "src:9", of=["channel:8"], at=6), same("c", "src:8", of=["channel:9"], at=5), same("d", "src:8", of=["channel:9"], at=6)], explain=True))
    shown = step("record_exposures", exposures=[{"user": USER, "item": "a", "surface": "home", "same_as": ["src:9"]}])
    yield scenario("what was on screen, and its reposts", shown, asks([same("b", "src:9")]), *[asks([same("b", "src:9"), same("c", "src:8")], not_=[{"fact": "exposed", "surface": one}], explain=True) for one in ("home", "search")])
    served = step("record_impressions", user=USER, items=[same("a", "src:9"), "b"])
    yield scenario("what was served, and its reposts", served, asks([same("c", "src:9"), "a"]), put("conf-s", served_is_seen=True), dict(served, args=dict(served["args"], collection="conf-s")), asks([same("c", "src:9"), "a"], collection="conf-s", explain=True))
    yield scenario("reposts in batches", step("bulk", batch=3, plays=[played(u64(i), "src:%d" % i) for i in range(7)]), step("bulk", kind="exposures", batch=3, plays=[played("e%d" % i, "e:%d" % i) for i in range(4)]),
                   asks([same("x", "src:6"), same("y", "src:7"), same("z", "e:3")]), asks([same("x", "e:3"), same("y", "e:4")], not_=[{"fact": "exposed"}]))
    yield scenario("pages and searches of reposts", record(original), step("fill_page", user=USER, need=3, candidates=[same("v2", "src:9"), same("a", "g"), same("b", "g"), "c", same("d", "h")]),
                   step("search_unseen", user=USER, k=3, best=[same("v2", "src:9"), same("e", "i"), "f", "g"]))
    again = dict(history={"enabled": True, "deleted_items": "recommend_again"})
    gone_ones = dict(user=USER, items=["v1"], collection="conf-r")
    yield scenario("an item is deleted with its group", put("conf-r", **again), record(original, collection="conf-r"), LATER, step("delete_history", **gone_ones), asks([same("v1", "src:9"), same("v2", "src:9")], collection="conf-r", explain=True),
                   step("delete_history", same_as=["src:9"], **gone_ones), asks([same("v2", "src:9"), "v1"], collection="conf-r"))
    for name, groups in (("an empty group that is the same", ["g", ""]), ("a group of 65 bytes that is the same", ["\u00e9" * 32 + "x"]), ("17 groups that are the same", ["g%d" % i for i in range(17)])):
        yield scenario(name, record(played("a", *groups)), asks(["b", same("a", *groups)]), step("delete_history", same_as=groups, **gone_ones))


def of_united():
    short, live, both = "conf-1", "conf-2", ["conf-1", "conf-2"]
    made = [put(short), put(live, exposed_is_seen=True), plays(USER, "a", u64(1), collection=short), plays(USER, "b", u64(2), collection=live), plays(USER, "d", u64(4)), exposed(USER, "e", collection=live)]
    listed, counted = ["a", "b", "c", "d", "e"], numbers(1, 2, 3, 4)
    yield scenario("what was seen in several collections", *made, *[asks(items, collections=names, **more) for items in (listed, counted) for names in (both, [live], [short, "default"], [])
                                                                    for more in ({}, {"collection": short})], asks(listed, collections=both, explain=True))
    yield scenario("several collections, and what else is asked", *made, asks(listed, collections=both, limit=2, exclude=["c"]), asks(counted, collections=both, limit=1, exclude=numbers(3)), asks(listed, collections=both, not_=[{"fact": "played"}]),
                   asks(listed, collections=both, facts=["impressions"]), asks([of("a", "g"), same("x", "s"), "c"], collections=both))
    yield scenario("what is recorded is of one collection", *made, asks(listed, collections=[*both, "default"], record=True), asks(["c"]), asks(["c"], collection=short), asks(counted, collections=both, collection=live, record=True), asks(counted, collection=live), asks(counted))
    yield scenario("pages and searches of several collections", *made, step("fill_page", user=USER, candidates=listed, need=9, collections=[*both, "default"]), step("fill_page", user=USER, candidates=counted, need=9, collections=[*both, "default"]),
                   step("search_unseen", user=USER, best=[*listed, "f"], k=2, collections=both))
    for name, names in (("an unknown collection of several", [short, "conf-nowhere"]), ("nine collections", ["c%d" % i for i in range(9)]), ("a collection twice", [short, short])):
        yield scenario(name, put(short), asks(["a"], collections=names), asks(numbers(1), collections=names))
    yield scenario("a name with a comma", put("conf-1"), asks(numbers(1), collections=[short, "a,b"]))


def put(name="conf-h", **policy):
    return step("put_collection", name=name, policy=dict({"history": {"enabled": True}}, **policy))


def gone(name="conf-h"):
    return step("delete_collection", name=name)


def of_errors():
    long = "x" * 256
    for name, items in (("an empty item", ["a", ""]), ("an item of 256 bytes", [long]), ("the third item", ["a", "b", "\u00e9" * 128])):
        yield scenario(name, step("filter", user=USER, items=items), step("record_impressions", user=USER, items=items),
                       plays(USER, *items))
    for name, user in (("an empty user", ""), ("a user of 256 bytes", long)):
        yield scenario(name, step("filter", user=user, items=["a"]), step("record_impressions", user=user, items=["a"]),
                       plays(user, "a"), step("filter", user=user, items=numbers(1)))
    yield scenario("what is excluded is no id", step("filter", user=USER, items=["a"], exclude=["b", ""]))
    for items in (["a"], numbers(1)):
        yield scenario("no such collection, %s" % ("numbers" if items != ["a"] else "texts"),
                       step("filter", user=USER, items=items, collection="conf-nowhere"),
                       step("record_impressions", user=USER, items=items, collection="conf-nowhere"),
                       plays(USER, *items, collection="conf-nowhere"))
    for name in ("No such", "a" * 65, "UPPER"):
        yield scenario("a collection named %.8s" % name, step("put_collection", name=name, policy={}),
                       step("filter", user=USER, items=["a"], collection=name))
    yield scenario("an odd policy", step("put_collection", name="conf-odd", policy={"fpr": 2}),
                   step("put_collection", name="conf-odd", policy={"nothing": 2}),
                   step("put_collection", name="conf-odd", policy={"history": {"enabled": 3}}))
    yield scenario("a collection that is gone", step("delete_collection", name="conf-gone"))
    yield scenario("a route that is none", step("call", method="GET", path="/nowhere", only=[]),
                   step("call", method="POST", path="/filter", body={"user": "u"}, only=[]),
                   step("call", method="PUT", path="/filter", body={}, only=[]))
    yield scenario("any route", step("call", method="GET", path="/cluster", only=[]),
                   step("call", method="POST", path="/filter", body={"user": "u", "items": []}, only=["seen", "degraded"]))
    yield scenario("history that is not kept", step("history_page", user=USER, collection="default"),
                   step("history_page", user=USER, collection="conf-nowhere"),
                   step("look_up_history", user=USER, items=["a"]), step("delete_history", user=USER, items=["a"]))
    yield scenario("an odd page of history", put(), step("history_page", user=USER, limit=0))
    long_surface = "\u00e9" * 16 + "x"
    yield scenario("a surface of 33 bytes", exposed(USER, "a", "b", surface=long_surface), asks(["a"], not_=[{"fact": "exposed", "surface": long_surface}]))
    yield scenario("exposures that are none", exposed(USER, "a", ""), exposed("", "a"), exposed(USER, "a", collection="conf-nowhere"),
                   step("record_exposures", exposures=[{"user": USER, "item": "old", "ago_ms": 40 * 365 * 86_400_000}]),
                   step("bulk", kind="exposures", batch=4, plays=[{"user": USER, "item": "a"}, {"user": USER, "item": "late", "ago_ms": -86_400_000}]))
    for name, entry in (("an unknown fact", {"fact": "liked"}), ("no fact", {"window": 1}), ("a number of plays", {"fact": "played", "last": 5}),
                        ("a window of 129", {"fact": "played", "window": 129})):
        yield scenario("a filter of %s" % name, asks(["a"], not_=[{"fact": "served"}, entry]), asks(numbers(1), not_=[entry]))
    yield scenario("too much is asked", asks(["a"], not_=[{"fact": "served"}] * 9), asks(["a", of("b", *["g%d" % i for i in range(17)])]))
    for name, group in (("an empty group", ""), ("a group of 65 bytes", "\u00e9" * 32 + "x")):
        yield scenario(name, mark(group, "always"), asks([of("a", "g", group)]))
    yield scenario("marks that are none", step("unmark", user=USER, group="x" * 65), step("marks", user=USER, limit=0), step("marks", user="x" * 256))
    yield scenario("candidates that are none", asks(["a", of("", "g")]), asks([of("x" * 256, "g")]), asks([of("a", "g")], exclude=[""]))
    yield scenario("items that are none", SCHEMA, step("put_items", updates=[{"id": "$run v", "version": 1}, {"id": "", "version": 1}]), step("put_items", updates=[{"id": "$run v", "version": 0}]),
                   step("put_items", updates=[{"id": "$run v", "version": 1, "set": {"nothing": 1}}]), step("put_items", updates=[{"id": "$run v", "version": 1, "set": {"author": 1}}]),
                   step("put_items", updates=[{"id": "$run v", "version": 1, "delete": True, "set": {"author": "a"}}]), step("get_items", ids=["a", ""]), step("get_items", ids=["a"], fields=["nothing"]))
    name, wrong = "$run s", dict(user=USER, items=["a"])
    yield scenario("sets that are none", *[step("put_set", name=one, items=items) for one, items in ((name, ["a", ""]), ("x" * 65, ["a"]))], step("get_set", name=name), step("get_set", name=name, limit=0),
                   *[step("filter", **dict(wrong, items=items), exclude_sets=sets) for items in (["a"], numbers(1)) for sets in ([name], ["s"] * 9, ["x" * 65])])
    yield scenario("a schema that is none", step("put_item_schema", fields=[{"name": "author", "type": "words"}]), step("put_item_schema", fields=[{"name": "", "type": "text"}]))


def of_plays():
    yield scenario("no plays", step("record_plays", plays=[]))
    yield scenario("one play", plays(USER, "a"))
    yield scenario("a play twice", plays(USER, "a"), plays(USER, "a"), step("filter", user=USER, items=["a", "b"]))
    yield scenario("plays of several users", step("record_plays", plays=[
        {"user": "$run %d" % i, "item": "v%d" % (i % 3)} for i in range(20)]),
        *[step("filter", user="$run %d" % i, items=["v0", "v1", "v2"]) for i in (0, 1, 5)])
    old = {"user": USER, "item": "old", "ago_ms": 40 * 365 * 86_400_000}
    late = {"user": USER, "item": "late", "ago_ms": -86_400_000}
    fine = {"user": USER, "item": "fine", "ago_ms": 5_000}
    yield scenario("a play of five seconds ago", step("record_plays", plays=[fine]), step("filter", user=USER, items=["fine", "b"]))
    yield scenario("a play that is too old", step("record_plays", plays=[old]), step("filter", user=USER, items=["old"]))
    yield scenario("a play of tomorrow", step("record_plays", plays=[late]))
    yield scenario("some plays are refused", step("record_plays", plays=[fine, old, {"user": USER, "item": "b"}, late]),
                   step("filter", user=USER, items=["fine", "old", "b", "late"]))
    yield scenario("all plays are refused", step("record_plays", plays=[old, late, old]))
    yield scenario("many plays are refused", step("record_plays", plays=[old] * 150 + [fine]))
    bulk = lambda *rows, **more: step("bulk", **dict({"plays": list(rows), "batch": 4}, **more))
    many = [{"user": "$run %d" % (i % 3), "item": u64(i) if i % 2 else "i%d" % i} for i in range(10)]
    yield scenario("many plays in batches", bulk(*many), *[step("filter", user="$run %d" % i, items=["i0", "i2", "i4", *numbers(1, 3, 5)]) for i in range(3)])
    yield scenario("batches of which some is refused", bulk(fine, old, late, *many, old, batch=5), step("filter", user=USER, items=["fine", "old"]))
    yield scenario("a batch of nothing but refusals", bulk(old, late), bulk())
    yield scenario("a batch with what is no id", bulk(fine, {"user": USER, "item": ""}))
    number = u64(2**63 + 11)
    yield scenario("batches of numbers alone", bulk(dict(old, user=number, item=u64(10)), *[{"user": number, "item": one} for one in numbers(*range(9), 2**53 + 1, 2**64 - 1)], dict(old, user=number, item=u64(11))),
                   step("filter", user=number, items=numbers(0, 8, 9, 10, 11, 2**53, 2**53 + 1, 2**64 - 1, 2**64 - 2)))
    odd = [{"user": "$run c/\u00fc\u6f22", "item": item} for item in ("caf\u00e9", "cafe\u0301", "x" * 255, "a\nb", "007", u64(7))]
    yield scenario("batches of odd texts", bulk(*odd), step("filter", user="$run c/\u00fc\u6f22", items=["caf\u00e9", "cafe\u0301", "x" * 254, "x" * 255, "a\nb", "7", "007", "8"]))
    yield scenario("batches that say more and more", bulk(*[{"user": USER, "item": u64(1)}, {"user": USER, "item": "a"}, late, {"user": USER, "item": u64(2)}, dict(fine, progress_s=5), old, {"user": USER, "item": u64(3)}], batch=9), step("filter", user=USER, items=["1", "a", "2", "fine", "3", "late"]))
    yield scenario("a batch of numbers of no collection", bulk({"user": u64(1), "item": u64(1)}, collection="conf-nowhere"))
    yield scenario("batches of no collection", bulk(fine, collection="conf-nowhere"))
    yield scenario("impressions", step("record_impressions", user=USER, items=["a", "b"]), step("record_impressions", user=USER, items=[]),
                   step("filter", user=USER, items=["a", "b", "c"]))
    other = "conf-x"
    yield scenario("plays of a collection", put(other), plays(USER, "a", collection=other),
                   step("filter", user=USER, items=["a"], collection=other), step("filter", user=USER, items=["a"]),
                   step("collections"), gone(other), step("collections"))


def of_history():
    def watched(n, **more):
        return dict({"user": USER, "item": "h%d" % n, "ago_ms": 1_000 * (n + 1)}, **more)
    kept = step("record_plays", collection="conf-h", plays=[
        watched(0, progress_s=95, duration_s=240, device="tv", fields={"series": "s\u00fc", "n": 3, "deep": {"a": [1, None, True]}}),
        watched(1, progress_s=-1), watched(2, duration_s=10), watched(3, device="\u00fc/+ "), watched(4)])
    numbered = step("record_plays", collection="conf-h", plays=[{"user": USER, "item": one, "ago_ms": 500 + i}
                                                                for i, one in enumerate([u64(2**53 + 1), u64(2**64 - 1), "007"])])
    yield scenario("a history", put(), kept, step("history_page", user=USER, collection="conf-h", limit=100), step("history_page", user=USER, limit=2),
                   step("history", user=USER, limit=2))
    yield scenario("ids in a history", put(), numbered, step("history", user=USER, limit=100),
                   step("look_up_history", user=USER, items=["007", u64(2**53 + 1), "x", u64(3)], collection="conf-h"),
                   step("delete_history", user=USER, items=[u64(2**53 + 1)], collection="conf-h"), step("history", user=USER, limit=1))
    yield scenario("items are looked up", put(), kept, step("look_up_history", user=USER, items=["h3", "x", "h0"], collection="conf-h"))
    yield scenario("items are taken out", put(), kept, step("delete_history", user=USER, items=["h1", "h3", "x"], collection="conf-h"),
                   step("history", user=USER, limit=100), step("filter", user=USER, items=["h1", "h2"], collection="conf-h"))
    yield scenario("a history is cleared", put(), kept, step("clear_history", user=USER, collection="conf-h"), step("history", user=USER, limit=100))
    yield scenario("a history of all is cleared", put(), kept, step("clear_history", user=USER), step("history", user=USER, limit=100))
    yield scenario("a history is paused", put(), step("set_recording", user=USER, recording=False), kept, step("history", user=USER, limit=9),
                   step("set_recording", user=USER, recording=True))
    yield scenario("an export", put(), kept, step("export", user=USER), step("erase", user=USER), step("export", user=USER))


def of_pages():
    listed = ["p%d" % i for i in range(50)]
    page = lambda **more: step("fill_page", **dict({"user": USER, "candidates": listed, "need": 20}, **more))
    yield scenario("pages without repeats", page(), page(), page(), page())
    yield scenario("a page of what is left", plays(USER, *listed[:40]), page())
    yield scenario("a page of nothing", page(candidates=[]), page(need=1, candidates=["a", "a", "a"]), page(need=1, candidates=["a"]))
    yield scenario("a page of numbers", page(candidates=numbers(*range(2**53, 2**53 + 30))), page(candidates=numbers(*range(2**53, 2**53 + 30))))
    yield scenario("a page of both", page(candidates=["1", u64(1), u64(2), "2", "x", u64(3)], need=3))
    long = ["%d" % i for i in range(1_050)]
    yield scenario("a page that is far down", step("record_impressions", user=USER, items=["0"]),
                   step("fill_page", user=USER, candidates=long, need=9), plays(USER, *long[5:1_010]),
                   step("fill_page", user=USER, candidates=long, need=30), plays(USER, *long[1_030:1_049]),
                   step("fill_page", user=USER, candidates=long, need=30))
    yield scenario("a page without what is excluded", page(exclude=["p0", "p2"], need=3), page(candidates=numbers(1, 2, 3), exclude=numbers(2), need=3))
    yield scenario("a page of a collection", put(), page(collection="conf-h", need=3), page(need=3), page(collection="conf-h", need=3))
    yield scenario("a page that fails closed", page(when_degraded="fail_closed", need=3), page(when_degraded="last_known", need=3))
    search = lambda **more: step("search_unseen", **dict({"user": USER, "best": listed, "k": 5}, **more))
    yield scenario("a search", search(), search(k=20), plays(USER, *listed[:30]), search(), search(k=25), search(k=1))
    yield scenario("a search that finds less", plays(USER, *listed[:48]), search(), search(best=listed[:3]), search(best=[]))
    yield scenario("a search of numbers", plays(USER, *numbers(0, 1, 2)), search(best=numbers(*range(9))))


def on_a_server():
    return {"ids": list(of_ids()), "filters": list(of_filters()), "errors": list(of_errors()), "plays": list(of_plays()), "facts": list(of_facts()),
            "same": list(of_same()), "united": list(of_united()), "items": list(of_items()), "sets": list(of_sets()), "counts": list(of_counts()), "dry": list(of_dry()), "rules": list(of_rules()), "history": list(of_history()), "pages": list(of_pages()), "z_end": [scenario("what scenarios made is deleted", *[gone(name) for name in ("conf-h", "conf-e", "conf-c", "conf-s", "conf-r", "conf-1", "conf-2")])]}


# ---- On a server that misbehaves ----


def partition_of(user, count):
    """As Kafka's producers in Java partition: murmur2 (tests hold each client's against Kafka's values)."""
    data, m, mask = (user["u64"] if isinstance(user, dict) else user).encode(), 0x5BD1E995, 0xFFFFFFFF
    value = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at:at + 4], "little") * m & mask
        value = (value * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if len(data) & 3:
        value = (value ^ int.from_bytes(data[whole:], "little")) * m & mask
    value = (value ^ value >> 13) * m & mask
    return ((value ^ value >> 15) & 0x7FFFFFFF) % count


TOKENS = {"reads": {"role": "read"}, "slow": {"role": "admin", "requests_per_s": 1}, "all": {"role": "admin"}}
BEARER = {name: {"Authorization": "Bearer " + name} for name in [*TOKENS, "nobody"]}
TWO = {"user": "u", "items": ["v", "w"]}
LARGE = {"id": "w", "version": 1, "set": {"author": "x" * 40_000, "title": "x" * 40_000}}  # more than an item may be
# name: (server, method, path, body, headers): what is asked, of which the answer is kept.
ANSWERS = {
    "unseen": ("wide", "POST", "/filter", TWO, {}),
    "bits": ("wide", "POST", "/filter?user=u&ids=u64&count=2", struct.pack("<2Q", 1, 2), {}),
    "recorded": ("wide", "POST", "/plays", {"events": [{"user": "recorded", "item": "v"}]}, {}),
    "exposed": ("wide", "POST", "/exposures", {"events": [{"user": "recorded", "item": "v"}]}, {}),
    "marked": ("wide", "POST", "/users/recorded/marks", {"group": "g", "until": 1}, {}),
    "marks": ("wide", "GET", "/users/nobody/marks", None, {}),
    "unmarked": ("wide", "DELETE", "/users/nobody/marks/g", None, {}),
    "schema": ("wide", "PUT", "/items/schema", {"fields": [{"name": "author", "type": "text"}, {"name": "title", "type": "text"}]}, {}),
    "taken": ("wide", "POST", "/items", {"items": [{"id": "v", "version": 1, "set": {"author": "a"}}]}, {}),
    "some refused": ("wide", "POST", "/items", {"items": [{"id": "v", "version": 1}, LARGE]}, {}),
    "all refused": ("wide", "POST", "/items", {"items": [LARGE]}, {}),
    "items": ("wide", "POST", "/items/get", {"ids": ["v"]}, {}),
    "set": ("wide", "PUT", "/sets/s", {"items": ["a"]}, {}),
    "set page": ("wide", "GET", "/sets/s", None, {}),
    "set gone": ("wide", "DELETE", "/sets/s", None, {}),
    "counts": ("wide", "GET", "/users/nobody/counts?of=author", None, {}),
    "reserved": ("wide", "POST", "/reserve", {"user": "u", "items": ["v"], "caps": []}, {}),
    "degraded": ("wide", "POST", "/filter", dict(TWO, deadline_ms=0), {}),
    "degraded bits": ("wide", "POST", "/filter?user=u&ids=u64&count=2&deadline_ms=0", struct.pack("<2Q", 1, 2), {}),
    "too late": ("wide", "POST", "/filter", dict(TWO, deadline_ms=0, on_error="fail"), {}),
    "bad": ("wide", "POST", "/filter", {"user": "", "items": ["v"]}, {}),
    "not found": ("wide", "POST", "/filter", dict(TWO, collection="nowhere"), {}),
    "other type": ("wide", "POST", "/users/u/history/lookup", b"x", {}),
    "unauthorized": ("narrow", "POST", "/filter", TWO, {}),
    "forbidden": ("narrow", "POST", "/plays", {"events": []}, BEARER["reads"]),
    "limited": ("narrow", "POST", "/filter", TWO, BEARER["slow"]),
    "busy": ("narrow", "POST", "/filter", {"user": "u", "items": ["%0250d" % i for i in range(5_000)]}, BEARER["all"]),
}
STATUS = {"all refused": 422, "too late": 503, "bad": 400, "not found": 404, "other type": 415, "unauthorized": 401, "forbidden": 403,
          "limited": 429, "busy": 503}


def lying(name, servers, *steps, requests=(), only=None, most_requests=None, dns=None, **client):
    """`servers`: of each what it says, request after request; "gone": nobody listens there; {"gone_ms", "then"}: for so long. `only`: the
    client is told of so many of them. `requests`: what it is to ask; `most_requests`: or a little more. `dns`: the client is told of a
    name; what the name server says, question after question: [priority, weight, server] of each record, or a lie of dns_stand_in.py."""
    more = {name: value for name, value in (("only", only), ("most_requests", most_requests), ("dns", dns)) if value is not None}
    return dict(scenario(name, *steps), servers=servers, client=dict({"timeout_ms": 10_000}, **client), requests=list(requests), **more)


def expects(one, **outcome):
    """A step with its outcome, which is the clients' contract: servers have no part in it."""
    return dict(one, **outcome)


def on_a_liar():
    ask = step("filter", user="u", items=["v", "w"])
    bits = step("filter", user="u", items=numbers(1, 2))
    whole = {"seen": 0, "examined": 2, "degraded": False, "missing": [], "excluded": 0, "duplicates": 0}
    good = expects(ask, answer=dict(whole, unseen=["v", "w"]))
    good_bits = expects(bits, answer=dict(whole, unseen=numbers(1, 2)))
    play = expects(plays("u", "v"), answer={"accepted": 1, "refused": 0, "pending": False, "refusals": []})

    def fails(code, one=ask, field="", **more):
        return expects(one, error=dict({"code": code, "field": field}, **more))

    def says(answer, **lie):
        return dict({"answer": answer}, **lie)

    def soon(ms="60", **lie):
        return says("busy", header={"SeenDB-Retry-After-Ms": ms}, **lie)
    ok, first, second = says("unseen"), {"path": "/filter", "not": ["SeenDB-Attempt"]}, {"path": "/filter", "has": {"SeenDB-Attempt": "1"}}

    waits = []
    for name, code, after_ms in (("busy", "busy", 1_000), ("limited", "rate_limited", 60)):
        waits.append(lying("%s, then asked again" % name, [[says(name), ok]], good,
                           requests=[first, dict(second, after_ms=after_ms, same_body=0)]))
        waits.append(lying("%s without an end" % name, [[says(name)] * 3], fails(code), requests=[first, second]))
        waits.append(lying("%s, and no second try" % name, [[says(name), ok]], fails(code), requests=[first], retries=0))
    for odd in ("-5", "Fri, 27 Nov 2026 05:00:00 GMT", "soon"):
        waits.append(lying("Retry-After: %s" % odd, [[says("busy", header={"Retry-After": odd}), ok]],
                           good, requests=[first, second]))
    waits.append(lying("a wait of many digits", [[says("busy", header={"Retry-After": "9" * 20}), ok]], fails("busy"), requests=[first]))
    waits.append(lying("a wait that is too long", [[says("busy", header={"SeenDB-Retry-After-Ms": "60000"}), ok]], fails("busy"), requests=[first]))
    waits.append(lying("a play keeps its time", [[soon(), says("recorded")]], play,
                       requests=[{"path": "/plays", "now": "/events/0/at"}, {"path": "/plays", "same_body": 0, "has": {"SeenDB-Attempt": "1"}}]))
    recorded = {"accepted": 1, "refused": 0, "pending": False, "refusals": []}
    shown = expects(exposed("u", "v", surface="home"), answer=recorded)
    marked = expects(mark("g", 1, user="u"), answer={"done": True})
    taken = expects(step("put_items", updates=[{"id": "v", "version": 1, "set": {"author": "a"}}]), answer=dict(recorded, stale=0))
    read = expects(step("get_items", ids=["v"]), answer={"items": [{"id": "v", "version": 1, "fields": {"author": "a"}}]})
    listed = expects(step("marks", user="u"), answer={"marks": [], "more": False, "degraded": False})
    kept = expects(step("put_set", name="s", items=["a"]), answer={"name": "s", "count": 1})
    members = expects(step("get_set", name="s"), answer={"name": "s", "count": 1, "items": ["a"], "more": False})
    counted = expects(step("counts", user="u", of="author"), answer={"counts": [], "more": False, "degraded": False})
    promised = expects(step("reserve", user="u", items=["v"], caps=[]), answer={"reserved": ["v"], "refused": []})
    for name, one, said, path, more in (("a set is put again", kept, "set", "/sets/s", {}), ("a set is read again", members, "set page", "/sets/s", {}),
                                        ("a set is deleted again", expects(step("delete_set", name="s"), answer={"done": True}), "set gone", "/sets/s", {}),
                                        ("counts are asked for again", counted, "counts", "/users/u/counts", {"query": {"of": "author"}}), ("a reservation keeps its time", promised, "reserved", "/reserve", {"now": "/at"}),
                                        ("an exposure keeps its time", shown, "exposed", "/exposures", {"now": "/events/0/at"}), ("a mark keeps its time", marked, "marked", "/users/u/marks", {"now": "/at"}),
                                        ("updates of items are sent again", taken, "taken", "/items", {}), ("items are asked for again", read, "items", "/items/get", {}),
                                        ("marks are asked for again", listed, "marks", "/users/u/marks", {}), ("a mark is deleted again", expects(step("unmark", user="u", group="g"), answer={"deleted": False}), "unmarked", "/users/u/marks/g", {}),
                                        ("a schema is put again", expects(dict(SCHEMA), answer={"done": True}), "schema", "/items/schema", {})):
        again = {"path": path, "has": {"SeenDB-Attempt": "1"}}
        waits.append(lying(name, [[soon(), says(said)]], one, requests=[dict(more, path=path), dict(again, same_body=0)]))
        waits.append(lying(name + ", after a cut", [[says(said, cut=-3), says(said)]], one, requests=[dict(more, path=path), dict(again, same_body=0)]))
    waits.append(lying("the time that is left is told", [[soon(slow_ms=300), ok]], good, timeout_ms=5_000,
                       requests=[{"timeout_ms": [3_000, 5_000], "json": {"deadline_ms": 4_000}}, {"timeout_ms": [1_000, 4_700]}]))
    waits.append(lying("the time of numbers is told", [[says("bits")]], good_bits, timeout_ms=5_000,
                       requests=[{"timeout_ms": [3_000, 5_000], "query": {"deadline_ms": "4000", "ids": "u64", "count": "2", "user": "u"}}]))
    waits.append(lying("no answer at all", [["stall"]], fails("timeout"), timeout_ms=1_200))
    waits.append(lying("half an answer", [[says("unseen", cut=-5, hold=True)]], fails("timeout"), timeout_ms=1_200))
    waits.append(lying("a slow answer", [[says("unseen", slow_ms=300)]], good, requests=[first]))
    waits.append(lying("an answer in small pieces", [[says("unseen", pieces=7)], ], good))
    waits.append(lying("second tries have a budget", [[soon("0")] * 80],
                       *[fails("busy")] * 40, requests=[{"path": "/filter"}] * 40, most_requests=54))
    for name, code, field in (("bad", "invalid_argument", "/user"), ("not found", "not_found", "/collection"),
                              ("other type", "unsupported_media_type", ""), ("unauthorized", "unauthorized", ""), ("forbidden", "forbidden", "")):
        waits.append(lying("%s is not asked again" % name, [[says(name), ok]], fails(code, field=field, status=STATUS[name]), requests=[first]))
    waits.append(lying("too late for the server", [[says("too late"), says("too late")]], fails("unavailable", status=503), requests=[first, second]))

    lies = []
    for name, says_it in (("no connection is kept", ["close"]), ("a cut before the body", [says("unseen", cut=0, body_only=True)]),
                          ("a cut in the body", [says("unseen", cut=-3)]), ("a cut in the head", [says("unseen", cut=20)])):
        lies.append(lying(name, [says_it * 2], fails("unavailable"), requests=[first, second]))
        lies.append(lying(name + ", then an answer", [[*says_it, ok]], good, requests=[first, dict(second, same_body=0)]))
        lies.append(lying(name + ", of a call that is made once", [[*says_it, ok]],
                          fails("unavailable", step("call", method="POST", path="/admin/drain", only=[])), requests=[{"path": "/admin/drain"}]))
    for name, lie in (("another protocol", {"raw": "SSH-2.0-OpenSSH\r\n\r\n"}), ("a length that is none", says("unseen", length="many")),
                      ("a negative length", says("unseen", length="-5")), ("no JSON", says("unseen", body="<html>")),
                      ("an empty body", says("unseen", body="")), ("a list in place of an object", says("unseen", body="[]")),
                      ("an item that nobody named", says("unseen", body='{"unseen":["x"],"seen":1,"examined":2,"degraded":false}')),
                      ("an object of another answer", says("recorded")), ("an error in other words", says("unseen", status=500, body="<html>")), ("an error without a code", says("unseen", status=400, body="{}")),
                      ("a redirect", says("unseen", status=302, body="", header={"Location": "/filter"}))):
        lies.append(lying(name, [[lie, ok]], fails("protocol"), requests=[{"path": "/filter"}], retries=0))
    for status in (502, 504):
        lies.append(lying("a proxy's %d" % status, [[says("unseen", status=status, body="<html>")]], fails("unavailable", status=status), retries=0))
    lies.append(lying("a length that is too long", [[says("unseen", length="500", close=True)]], fails("unavailable"), retries=0))
    lies.append(lying("a bitmap that is too short", [[says("bits", body="")]], fails("protocol", bits), retries=0))
    lies.append(lying("a bitmap that is too long", [[says("bits", body="\u0003\u0003")]], fails("protocol", bits), retries=0))
    lies.append(lying("a bitmap that counts nothing", [[says("bits", without=["seendb-seen"])]], fails("protocol", bits), retries=0))
    lies.append(lying("a connection that is closed while idle", [[says("unseen", close=True), ok, ok]], good, {"sleep_ms": 100}, good, good, requests=[first, first, first]))
    lies.append(lying("a connection that breaks on its second call", [[ok, "close", ok]], good, good, requests=[first, first, {"path": "/filter", "same_body": 1}]))
    lies.append(lying("no JSON of any route", [[says("unseen", body="{")]], fails("protocol", step("call", method="GET", path="/x", only=[])), retries=0))
    lies.append(lying("the answer to another call", [[ok]], fails("protocol", plays("u", "v")), retries=0))
    lies.append(lying("members that nobody knows", [[says("unseen", add={"newer": {"a": [1]}})]], good))
    lies.append(lying("degraded", [[says("degraded"), says("degraded bits")]],
                      expects(ask, answer=dict(whole, unseen=["v", "w"], degraded=True, missing=["deadline"])),
                      expects(bits, answer=dict(whole, unseen=numbers(1, 2), degraded=True, missing=["deadline"]))))

    lies.append(lying("an item that nobody asked for", [[says("items")]], fails("protocol", step("get_items", ids=["w"])), retries=0))
    two = step("put_items", updates=[{"id": "v", "version": 1}, {"id": "w", "version": 1, "set": {"author": "long"}}])
    lies.append(lying("an update that is refused", [[says("some refused")]], expects(two, answer={"accepted": 1, "refused": 1, "pending": False, "stale": 0, "refusals": [[1, "invalid_argument", "/items/1"]]})))
    lies.append(lying("all updates are refused", [[says("all refused")]], fails("invalid_argument", two, field="/items/0", status=422)))
    lies.append(lying("no items", [[ok]], fails("protocol", step("get_items", ids=["v"])), retries=0))
    lies.append(lying("no counts", [[ok]], fails("protocol", step("counts", user="u", of="author")), retries=0))
    lies.append(lying("no set", [[ok]], fails("protocol", step("get_set", name="s")), retries=0))
    lies.append(lying("a reservation of what nobody asked for", [[says("reserved")]], fails("protocol", step("reserve", user="u", items=["w"], caps=[])), retries=0))
    lies.append(lying("no reservation", [[ok]], fails("protocol", step("reserve", user="u", items=["v"], caps=[])), retries=0))
    lies.append(lying("repeats that nobody named", [[says("unseen", add={"repeats": ["x"]})]], fails("protocol", dict(ask, args=dict(ask["args"], when_short={"need": 9, "gap": "1d", "max": 1}))), retries=0))
    lies.append(lying("numbers without a set", [[says("bits")]], expects(dict(bits, args=dict(bits["args"], exclude_sets=["s", "t"])), answer=dict(whole, unseen=numbers(1, 2))),
                      requests=[{"path": "/filter", "query": {"ids": "u64", "exclude_sets": "s,t"}}]))
    lies.append(lying("no marks", [[ok]], fails("protocol", step("marks", user="u")), retries=0))

    page = lambda when, need=1, **more: step("fill_page", user="u", candidates=["v", "w", "x"], need=need, when_degraded=when, **more)
    pages = [lying("a page fails open: %s" % name, [[answer] * 2], expects(page("fail_open", 2), answer={"ids": ["v", "w"]}), retries=0, **more)
             for name, answer, more in (("busy", soon(), {}), ("limited", says("limited"), {}), ("no answer", "stall", {"timeout_ms": 1_200}),
                                        ("a cut", says("unseen", cut=-3), {}), ("a proxy", says("unseen", status=502, body="<html>"), {}))]
    pages += [lying("a page fails closed: %s" % name, [[answer] * 2], fails(code, page("fail_closed")), requests=[{"json": {"on_error": "fail"}}], retries=0, **more)
              for name, answer, code, more in (("busy", soon(), "busy", {}), ("too late", says("too late"), "unavailable", {}),
                                               ("degraded all the same", says("degraded"), "unavailable", {}), ("no answer", "stall", "timeout", {"timeout_ms": 1_200}))]
    pages.append(lying("a page that nobody may have", [[says("forbidden")]], fails("forbidden", page("fail_open")), retries=0))
    pages.append(lying("what this client served", [[says("unseen"), soon(), soon(), says("degraded")]],
                       expects(page("last_known", 2), answer={"ids": ["v", "w"]}), expects(page("last_known", 2), answer={"ids": ["x"]}),
                       expects(page("fail_open", 2), answer={"ids": ["v", "w"]}), expects(page("last_known", 2), answer={"ids": []}), retries=0))
    pages.append(lying("more than the page needs", [[says("unseen")]], expects(page("fail_open"), answer={"ids": ["v"]})))
    pages.append(lying("nobody is there", ["gone"], expects(page("fail_open", 2), answer={"ids": ["v", "w"]}), fails("unavailable", page("fail_closed"))))
    pages.append(lying("a page asks for what it needs", [[says("unseen")]], expects(page("fail_open", 2), answer={"ids": ["v", "w"]}),
                       requests=[{"json": {"limit": 2, "record": True, "items": ["v", "w", "x"]}}]))

    pages.append(lying("a page of groups fails open", [[soon()] * 2], expects(step("fill_page", user="u", candidates=[of("v", "g"), of(u64(1), "g", at=5), "x"], need=2, when_degraded="fail_open"),
                                                                               answer={"ids": ["v", u64(1)]}), retries=0))
    pages.append(lying("a page of groups asks for them", [[says("unseen")]], expects(step("fill_page", user="u", candidates=[of("v", "g", at=5), "w"], need=2, **{"not": [{"fact": "exposed"}]}), answer={"ids": ["v", "w"]}),
                       requests=[{"json": {"items": [of("v", "g", at=5), "w"], "not": [{"fact": "exposed"}], "record": True}}]))

    nodes = []
    view = lambda *replicas, states=(), **more: dict({"cluster": [list(replicas), list(states)]}, **more)
    direct, routed = {"path": "/filter", "has": {"SeenDB-Route": "direct"}}, {"path": "/filter", "not": ["SeenDB-Route", "SeenDB-Attempt"]}
    the_map = {"path": "/cluster", "server": 0}
    nodes.append(lying("the next server where one is gone", ["gone", [ok] * 3], good, good, good, requests=[routed] * 3, retries=0))
    nodes.append(lying("all servers are gone", ["gone", "gone"], fails("unavailable"), retries=0))
    nodes.append(lying("another server at the second try", [[soon()] * 9, [ok] * 9], good, good, good, good))
    nodes.append(lying("a question goes to its node", [[view(1)], [ok, ok]], good, good, cluster=True,
                       requests=[the_map, dict(direct, server=1), dict(direct, server=1)]))
    nodes.append(lying("a map that is no longer right", [[view(0), {"status": 421, "error": "other_node"}, ok]], good, cluster=True,
                       requests=[the_map, dict(direct, server=0), dict(routed, server=0)], only=1))
    nodes.append(lying("nodes that are up come first", [[view(1, 2, states=("up", "down", "up"))], [], [ok]], good, cluster=True,
                       requests=[the_map, dict(direct, server=2)], only=1))
    nodes.append(lying("a node that is gone", [[view(1, 2)], "gone", [ok]], good, cluster=True, requests=[the_map, dict(routed, server=2)], only=1))
    for name, said in (("no JSON", says("unseen", body="<html>")), ("no map", says("unseen")), ("none", says("not found")), ("refused", soon())):
        nodes.append(lying("a map that is %s" % name, [[said, ok]], good, cluster=True, requests=[{"path": "/cluster"}, routed], only=1))
    for name, user in (("text", "user 1"), ("a number", u64(2**53 + 1)), ("no ASCII", "u\u00fc\u6f22")):
        nodes.append(lying("a user by its hash: %s" % name, [[{"cluster": [[1], [], partition_of(user, 64)]}], [ok], []],
                           expects(step("filter", user=user, items=["v", "w"]), answer=dict(whole, unseen=["v", "w"])), cluster=True,
                           requests=[the_map, dict(direct, server=1)], only=1))

    def at(position):
        return says("recorded", header={"SeenDB-Position": position})

    def reads(position):
        return {"path": "/filter", "has": {"SeenDB-Position": position}}
    told = {"path": "/plays"}
    nodes.append(lying("what was written is read", [[at("3:7"), ok]], play, good, requests=[told, reads("3:7")]))
    nodes.append(lying("positions never go back", [[at("3:1042"), at("5:7"), at("3:9"), at("what"), ok]], play, play, play, play, good, requests=[told] * 4 + [reads("3:1042,5:7")]))
    nodes.append(lying("a position beyond 2^53", [[at("3:9007199254740993"), ok]], play, good, requests=[told, reads("3:9007199254740993")]))
    nodes.append(lying("another user has another position", [[at("3:7"), ok]], play,
                       expects(step("filter", user="w", items=["v", "w"]), answer=dict(whole, unseen=["v", "w"])),
                       requests=[told, {"path": "/filter", "not": ["SeenDB-Position"]}]))
    nodes.append(lying("a write that is pending", [[says("recorded", status=202, header={"SeenDB-Position": "1:1"})]],
                       expects(plays("u", "v"), answer={"accepted": 1, "refused": 0, "pending": True, "refusals": []})))

    bulk = expects(step("bulk", plays=[{"user": "u", "item": "v"}], batch=4), answer={"accepted": 1, "refused": 0, "refusals": []})
    again = {"path": "/plays", "same_body": 0}
    waits.append(lying("a batch is sent until it is taken", [[soon("1"), soon("1"), "close", says("limited"), says("recorded")]], bulk,
                       requests=[{"path": "/plays", "not": ["SeenDB-Attempt"]}, *[again] * 4]))
    rows = {"has": {"Content-Type": "application/octet-stream"}, "path": "/plays"}
    few = [{"user": u64(2**53 + 1), "item": u64(2**64 - 1)}, {"user": u64(1), "item": "v"}, {"user": u64(2), "item": u64(3)}, {"user": "u", "item": "v", "device": "tv"}, {"user": u64(4), "item": u64(5)}]
    waits.append(lying("batches in the least of three forms", [[says("recorded")] * 3], expects(step("bulk", plays=few, batch=4), answer={"accepted": 3, "refused": 0, "refusals": []}), requests=[
        dict(rows, query={"ids": "u64", "count": "1"}, begins=struct.pack("<QQ", 2**53 + 1, 2**64 - 1).hex()), dict(rows, query={"ids": "string", "count": "2"}, begins=b"\1\0\0\x001\1\0\0\0v".hex()),
        {"path": "/plays", "has": {"Content-Type": "application/x-ndjson"}}]))
    waits.append(lying("a batch that nobody may send", [[says("forbidden")]], fails("forbidden", step("bulk", plays=[{"user": "u", "item": "v"}], batch=4)), requests=[{"path": "/plays"}]))
    waits.append(lying("a batch is read back", [[says("recorded", header={"SeenDB-Position": "3:7"}), ok]], bulk, good,
                       requests=[{"path": "/plays"}, {"path": "/filter", "has": {"SeenDB-Position": "3:7"}}]))
    batch = expects(step("bulk", kind="exposures", batch=4, plays=[{"user": "u", "item": "v", "surface": "home"}]), answer={"accepted": 1, "refused": 0, "refusals": []})
    waits.append(lying("a batch of exposures is sent until it is taken", [[soon("1"), "close", says("exposed")]], batch, requests=[{"path": "/exposures"}, *[{"path": "/exposures", "same_body": 0}] * 2]))
    nodes.append(lying("what was shown is read", [[says("exposed", header={"SeenDB-Position": "3:7"}), ok]], shown, good, requests=[{"path": "/exposures"}, reads("3:7")]))
    nodes.append(lying("what was marked is read", [[says("marked", header={"SeenDB-Position": "3:7"}), ok]], marked, good, requests=[{"path": "/users/u/marks"}, reads("3:7")]))
    nodes.append(lying("marks go to their node", [[view(1)], [says("marked"), says("marks")]], marked, listed, cluster=True, only=1,
                       requests=[the_map, *[{"path": "/users/u/marks", "server": 1, "has": {"SeenDB-Route": "direct"}}] * 2]))
    for name, one, said, path in (("slow marks are asked for elsewhere too", listed, "marks", "/users/u/marks"), ("slow items are asked for elsewhere too", read, "items", "/items/get"),
                                  ("slow counts are asked for elsewhere too", counted, "counts", "/users/u/counts"), ("a slow set is asked for elsewhere too", members, "set page", "/sets/s")):
        nodes.append(lying(name, [[says(said, slow_ms=2_000)], [says(said)]], one, hedge_ms=50,
                           requests=[{"path": path, "server": 0}, {"path": path, "server": 1, "has": {"SeenDB-Attempt": "1"}, "within_ms": 1_500}]))
    for name, one, said in (("exposures are sent once", shown, "exposed"), ("a mark is sent once", marked, "marked"), ("updates are sent once", taken, "taken"),
                            ("a set is put once", kept, "set"), ("a reservation is made once", promised, "reserved")):
        nodes.append(lying(name, [[says(said, slow_ms=300)], []], one, hedge_ms=50, requests=[{"server": 0}]))
    late, hedged = says("unseen", slow_ms=2_000), dict(second, server=1, within_ms=1_500)
    nodes.append(lying("a read that is slow is asked elsewhere too", [[late], [ok]], good, hedge_ms=50, requests=[dict(first, server=0), hedged]))
    nodes.append(lying("a slow read of numbers", [[says("bits", slow_ms=2_000)], [says("bits")]], good_bits, hedge_ms=50, requests=[dict(first, server=0), hedged]))
    nodes.append(lying("a read that is quick is asked once", [[ok], []], good, hedge_ms=5_000, requests=[dict(first, server=0)]))
    nodes.append(lying("the better one of two answers counts", [[says("unseen", slow_ms=300)], [soon()]], good, hedge_ms=50, requests=[dict(first, server=0), hedged]))
    nodes.append(lying("what records is asked once", [[says("unseen", slow_ms=300)], []], expects(step("filter", user="u", items=["v", "w"], record=True),
                       answer=dict(whole, unseen=["v", "w"], recorded=True)), hedge_ms=50, requests=[dict(first, server=0)]))
    nodes.append(lying("plays are sent once", [[says("recorded", slow_ms=300)], []], play, hedge_ms=50, requests=[{"path": "/plays", "server": 0}]))
    nodes.append(lying("one server is asked once", [[says("unseen", slow_ms=300)]], good, hedge_ms=50, requests=[first]))
    doors = [lying("a token", [[ok]], good, token="t-1", requests=[dict(first, has={"Authorization": "Bearer t-1"})]),
             lying("no token", [[ok]], good, requests=[{"not": ["Authorization"]}]),
             lying("a token that is renewed", [[ok, ok]], good, {"write_token": "t-2"}, good, token_file="t-1",
                   requests=[{"has": {"Authorization": "Bearer t-1"}}, {"has": {"Authorization": "Bearer t-2"}}]),
             lying("a token that does not count", [[says("unauthorized")]], fails("unauthorized", status=401), token="old", requests=[first]),
             lying("a socket of the file system", [{"unix": [ok, ok]}], good, good, requests=[first, first]),
             lying("a server that is gone, and a socket", ["gone", {"unix": [ok]}], good, requests=[dict(first, server=1)], retries=0),
             lying("a certificate that is trusted", [{"tls": [ok, ok]}], good, good, ca=True, requests=[first, first]),
             lying("a certificate of a stranger", [{"tls": [ok]}], fails("unavailable"), retries=0),
             lying("a certificate of a stranger, and another server", [{"tls": [ok]}, [ok] * 2], good, good, requests=[dict(first, server=1)] * 2, retries=0),
             lying("no TLS where it is asked for", [{"plain": [ok]}], fails("unavailable"), ca=True, retries=0)]

    names, sleep = [], lambda ms: {"sleep_ms": ms}

    def named(name, servers, dns, *steps, to=(), **more):
        """`to`: the servers that are asked, in order."""
        names.append(lying("a name: " + name, servers, *steps, dns=dns, requests=[dict(routed, server=one) for one in to], **more))
    one, back = [[0, 0, 0]], {"gone_ms": 2_000, "then": [ok] * 9}
    named("its target", [[ok]], [one], good, to=[0])
    named("priorities", [[ok] * 9, []], [[[20, 9, 1], [10, 0, 0]]], good, good, good, to=[0] * 3)
    named("the next priority, where all of one rest", ["gone", "gone", [ok] * 9], [[[1, 1, 0], [1, 1, 1], [2, 1, 2]]], good, good, good, to=[2] * 3, retries=0)
    named("weights", [[], [ok] * 9], [[[0, 0, 0], [0, 65_535, 1]]], good, good, good, to=[1] * 3)
    named("a target that comes back", [back, [ok]], [[[1, 0, 0], [2, 0, 1]]], good, sleep(3_500), good, to=[1, 0], retries=0)
    named("another target", ["gone", [ok]], [one, [[0, 0, 1]]], fails("unavailable"), sleep(1_300), good, to=[1], retries=0)
    named("the former answer, where none comes", [back], [one, "no such name"], fails("unavailable"), sleep(3_500), good, to=[0], retries=0)
    named("an answer that comes later", [[ok]], ["no such name", one], fails("unavailable"), sleep(1_300), good, to=[0])
    named("an answer that is cut", [[ok]], ["cut", one], good, to=[0])
    named("an answer beyond a datagram", [[ok]], [[[n, n, 0] for n in range(99)]], good, to=[0])
    named("a service that is not there", [[]], [[[0, 0, "."]]], fails("unavailable"))
    named("a service that goes", ["gone"], [one, [[0, 0, "."]]], fails("unavailable"), sleep(1_300), fails("unavailable"))
    for lie, says in (("none", "no such name"), ("no record", []), ("refused", "refused"), ("malformed", "malformed"), ("a loop", "a loop"),
                      ("another answer", "another"), ("silence", "silent"), ("no port", [[0, 0, "s0.liar.test"]])):
        named(lie, [[]], [says], fails("unavailable"), timeout_ms=3_000)
    named("a page without an answer", [[]], ["no such name"], expects(page("fail_open", 2), answer={"ids": ["v", "w"]}))
    named("a certificate that is trusted", [{"tls": [ok, ok]}], [one], good, good, to=[0, 0], ca=True)
    names.append(lying("a name: nodes of a cluster", [[view(1)], [ok, ok]], good, good, cluster=True, dns=[one],
                       requests=[the_map, dict(direct, server=1), dict(direct, server=1)]))
    return {"waits": waits, "lies": lies, "unfilled": pages, "nodes": nodes, "doors": doors, "names": names}
