"""results.md: the aims, and a table a scenario and metric: cases down, peers across, each cell the
median (min-max) of the rounds."""

from . import aims

TITLES = {
    "filter": "Filter: candidates and share already seen (4 months x 3,300 items, hot)",
    "history": "History: items a user over 4 months (5,000 candidates, 20% seen, hot)",
    "cold": "Cold: reopened, page cache dropped",
    "clients": "Clients: answers a second, all together",
    "http": "HTTP: one server thread, one load thread; Redis peers without HTTP or JSON",
    "plays": "Plays in: acknowledged plays a second",
    "drain": "Hourly drain of 10 plays a user",
    "space": "Space: six months, one of them open",
    "recovery": "Recovery: plays a second, from a killed process to the next answer",
    "growth": "Growth: the same hot users among more and more light ones",
    "stalls": "Stalls: one client beside background work",
    "heartbeats": "Heartbeats: players say where they are; one Put each beside",
    "timeline": "Timeline: a page of 20 and a look-up of 100 items, by entries a user",
    "micro": "Micro: CPU time",
    "filters": "Cluster: filters; latencies of one client, the rest of four",
    "writes": "Cluster: acknowledged plays, one a request",
    "takeover": "Cluster: a primary is killed under steady reads and writes of its users",
    "moves": "Cluster: a shard goes to another node",
    "replay": "Cluster: a node that lost its disk",
}


def number(value):
    """Three significant digits, thousands apart, large ones as they are."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def cell(figure):
    text = number(figure["median"])
    if figure["rounds"] > 1:
        text += f" ({number(figure['min'])}-{number(figure['max'])})"
    return text


def _case(figure):
    return tuple(figure["case"].items())


def _distinct(values):
    return list(dict.fromkeys(values))


def _scenario(figures):
    lines = []
    for metric in _distinct(f["metric"] for f in figures):
        chosen = [f for f in figures if f["metric"] == metric]
        peers = _distinct(f["peer"] for f in chosen)
        names = _distinct(name for f in chosen for name in f["case"])
        by_place = {(_case(f), f["peer"]): f for f in chosen}
        lines += [f"`{metric}`", ""]
        lines.append("| " + " | ".join([n.replace("_", " ") for n in names] + peers) + " |")
        lines.append("|" + "---|" * (len(names) + len(peers)))
        for case in _distinct(_case(f) for f in chosen):
            row = [f"{dict(case)[n]:,}" if isinstance(dict(case).get(n), int)
                   else str(dict(case).get(n, "")) for n in names]
            row += [cell(by_place[case, p]) if (case, p) in by_place else "" for p in peers]
            lines.append("| " + " | ".join(row) + " |")
        lines.append("")
    return lines


def _aims(run):
    lines = ["## Aims", "", "| work | aim | measured | |", "|---|---|---|---|"]
    verdicts = {True: "met", False: "**missed**", None: "not measured"}
    for work, relation, aim, measured, met in aims.rows(run):
        shown = number(measured) if measured is not None else ""
        lines.append(f"| {work} | {relation} {number(aim)} | {shown} | {verdicts[met]} |")
    return lines + [""]


def _why_bloom(run):
    histories = list(aims.why_bloom(run))
    if not histories:
        return []
    names = [name for name, _, _ in histories[0][1]]
    lines = ["## Why Bloom", "", "Bytes a user / us per 5,000 candidates, by items a user in the "
             "window:", "", "| items | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for items, cells in histories:
        row = [f"{number(size)} / {number(us)}" if size is not None and us is not None else ""
               for _, size, us in cells]
        lines.append(f"| {items:,} | " + " | ".join(row) + " |")
    return lines + [""]


def text(run, drawn, with_aims=True):
    """The whole page."""
    machine = run["machine"]
    lines = ["# Results", "",
             f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
             f"{machine['system']}, kernel {machine['kernel']}; {machine['compiler']}, "
             f"{machine['build']}; Redis {machine['redis']}; commit {machine['commit']}; load "
             f"before the run {machine['load_before']}.",
             "",
             f"Mode `{run['mode']}`, {run['rounds']} rounds, {run['seconds']} s. Each cell: the "
             "median of the rounds (lowest-highest). The unit is the end of the metric's name.", ""]
    if with_aims:
        lines += _aims(run) + _why_bloom(run)
    for scenario in _distinct(f["scenario"] for f in run["figures"]):
        lines += [f"## {TITLES.get(scenario, scenario)}", ""]
        notes = [n["text"] for n in run["notes"] if n["scenario"] == scenario]
        lines += [f"- {note}" for note in notes] + ([""] if notes else [])
        lines += _scenario([f for f in run["figures"] if f["scenario"] == scenario])
        for name in drawn.get(scenario, []):
            lines += [f"![{scenario}]({name})", ""]
    lines += [f"- {n['scenario']}: {n['text']}" for n in run["notes"]
              if not any(f["scenario"] == n["scenario"] for f in run["figures"])]
    return "\n".join(lines).rstrip() + "\n"


def write(run, drawn, path, with_aims=True):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text(run, drawn, with_aims))
