"""Checks that every #include points along the arrows of the design."""

import os
import re

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
HOUSES = ("engine", "common", "server", "clients", "tools", "perf", "tests")


def includes_of(text):
    """(line number, "<" or quote, target) of each include of a file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match.group(1), match.group(2)))
    return found


def resolve(root, source, target):
    """The path, relative to the root, of the project's header that `target` names; or None."""
    candidates = [os.path.join(os.path.dirname(source), target)]
    candidates += [os.path.join("engine", "include", target)]
    candidates += [os.path.join("clients", "cpp", "include", target)]
    candidates += [os.path.join(house, target) for house in HOUSES]
    candidates += [os.path.join("tools", "seendb", target), target]
    for candidate in candidates:
        candidate = os.path.normpath(candidate)
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_engine(room, target_house, target_room, target):
    if target_house != "engine":
        return f"engine/{room} may not include {target_house}/"
    if room == "public":
        if target_room != "public":
            return f"a public header may not include {target}, which is not installed"
        return None
    if target_room == "public":
        if target == rooms.COMPOSITION_HEADER and room not in ("engine", "seams", rooms.C_ROOM):
            return f"engine/{room} lies below {rooms.COMPOSITION_HEADER}"
        if target == rooms.RECOVERY_HEADER and room != rooms.RECOVERY_ROOM:
            return f"engine/{room} works without {rooms.RECOVERY_HEADER}"
        if target in rooms.ITEMS_HEADERS and room != rooms.ITEMS_ROOM:
            return f"engine/{room} works without {target}"
        if target in rooms.SETS_HEADERS and room != rooms.SETS_ROOM:
            return f"engine/{room} works without {target}"
        if target == rooms.C_HEADER and room != rooms.C_ROOM:
            return f"engine/{room} works without {rooms.C_HEADER}"
        return None
    if room == rooms.C_ROOM:
        if target_room in rooms.C_ROOMS:
            return None
        return f"engine/c keeps to the engine's API, engine/{target_room} is inside"
    if target_room == rooms.C_ROOM:
        return f"engine/{room} works without engine/c"
    if room == rooms.RECOVERY_ROOM:
        if target_room in rooms.RECOVERY_ROOMS:
            return None
        return f"engine/recovery may not include engine/{target_room}"
    if target_room == rooms.RECOVERY_ROOM:
        return f"engine/{room} works without engine/recovery"
    if room == rooms.ITEMS_ROOM:
        if target_room in rooms.ITEMS_ROOMS:
            return None
        return f"engine/items may not include engine/{target_room}"
    if target_room == rooms.ITEMS_ROOM:
        return f"engine/{room} works without engine/items"
    if room == rooms.SETS_ROOM:
        if target_room in rooms.SETS_ROOMS:
            return None
        return f"engine/sets may not include engine/{target_room}"
    if target_room == rooms.SETS_ROOM:
        return f"engine/{room} works without engine/sets"
    if room == "seams":
        return None if target_room == "base" else f"seams.h may include base/ only, not {target}"
    if target_room == "seams":
        return None if room == "engine" else f"engine/{room} lies below seams.h"
    if target_room not in rooms.ENGINE_ROOMS or room not in rooms.ENGINE_ROOMS:
        return f"unknown room of the engine: {target_room} or {room} (tools/lint/rooms.py)"
    if rooms.ENGINE_ROOMS.index(target_room) > rooms.ENGINE_ROOMS.index(room):
        return f"engine/{room} lies below engine/{target_room}"
    return None


def check_server(room, target_house, target_room, target):
    if target_house == "engine":
        if room in rooms.SERVER_ENGINE_FREE and target != rooms.LOCK_HEADER:
            return f"server/{room} knows nothing of the engine"
        if target_room != "public" and target_room not in rooms.SERVER_ENGINE_ROOMS:
            return f"the server keeps to the engine's API, {target} is inside"
        return None
    if target_house != "server":
        return f"the server may not include {target_house}/"
    allowed = rooms.SERVER_ROOMS.get(room)
    if allowed is None:
        return f"unknown room server/{room} (tools/lint/rooms.py)"
    if target_room not in allowed:
        return f"server/{room} may not include server/{target_room}"
    return None


def check_common(room, target_house, target_room, target):
    if target_house == "engine" and target_room == "public" and target != rooms.COMPOSITION_HEADER:
        return None
    if target_house == "common" and target_room in rooms.COMMON_ROOMS.get(room, ()):
        return None
    if target_house == "engine" and target_room in rooms.COMMON_ENGINE_ROOMS.get(room, ()):
        return None
    return f"common/{room} may not include {target}"


def check_client(room, target_house, target_room, target):
    if target_house == "clients" and (room != "public" or target_room == "public"):
        return None
    if room == "public":
        return f"a public header of the client may not include {target}"
    if target_house == "common" and target_room in rooms.CLIENT_COMMON_ROOMS:
        return None
    if target_house == "engine" and target != rooms.COMPOSITION_HEADER and (
            target_room == "public" or target == rooms.CLIENT_ENGINE_HEADER):
        return None
    return f"the client may not include {target}"


def check_tools(target_house, target_room, target):
    if target_house == "tools":
        return None
    if target_house == "engine":
        if target_room == "public" or target_room in rooms.TOOLS_ENGINE_ROOMS:
            return None
        return f"tools may not include {target}"
    if target_house == "server" and target_room in rooms.TOOLS_SERVER_ROOMS:
        return None
    return f"tools may not include {target_house}/"


def check_own(house, room, target_house, target_room, target):
    """Why this include of one of our headers is wrong, or None."""
    if target_house == "tests" and house != "tests":
        return "nobody includes tests/"
    if target_house == "perf" and house != "perf":
        return "nobody includes perf/"
    if target_house == "clients" and house not in ("clients", "tests", "perf"):
        return f"{house} works without {target}"
    if target_house == "common" and house in ("tools", "server"):
        users = rooms.COMMON_USERS
        if target_room in users.get(house, set()) | users.get(f"{house}:{room}", set()):
            return None
        return f"{house}/{room} may not include common/{target_room}"
    if house == "engine":
        return check_engine(room, target_house, target_room, target)
    if house == "common":
        return check_common(room, target_house, target_room, target)
    if house == "server":
        return check_server(room, target_house, target_room, target)
    if house == "clients":
        return check_client(room, target_house, target_room, target)
    if house == "tools":
        return check_tools(target_house, target_room, target)
    return None  # tests and perf may include anything


def check_foreign(house, room, target):
    """Why this include of a header that is not ours is wrong, or None."""
    if house in ("tests", "perf"):
        return None
    name = re.split(r"[/.]", target)[0]
    if name in rooms.THIRD_PARTY:
        if room == "public":
            return f"a public header may not include <{target}>"
        allowed = rooms.THIRD_PARTY[name]
        if house not in allowed and f"{house}:{room}" not in allowed:
            return f"<{target}> does not belong in {house}/{room}"
        return None
    if not rooms.SYSTEM.match(target) and target not in rooms.SYSTEM_C:
        return f"unknown third-party header <{target}> (tools/lint/rooms.py)"
    forbidden = rooms.FORBIDDEN_STD.get(house, set()) | rooms.FORBIDDEN_STD.get(
        f"{house}:{room}", set())
    if target in forbidden:
        return f"<{target}> does not belong in {house}/{room}"
    return None


def check_file(root, path, text):
    """Messages about one source file."""
    house, room = rooms.room_of(path)
    if house is None:
        return []
    messages = []
    for number, kind, target in includes_of(text):
        own = resolve(root, path, target) if kind == '"' or target.startswith("seendb/") else None
        if own:
            target_house, target_room = rooms.room_of(own)
            why = check_own(house, room, target_house, target_room, target)
            if not why and ".." in target.split("/"):
                why = f"includes are written from the top of the house, not {target}"
        elif kind == '"' and "/" in target and target.split("/")[0] not in rooms.THIRD_PARTY:
            why = f'"{target}" names no header of the project'
        else:
            why = check_foreign(house, room, target)
            if target in rooms.LOCKS_STD and house in rooms.LOCK_HOUSES:
                if path != "engine/" + rooms.LOCK_HEADER:
                    why = f"the locks are those of {rooms.LOCK_HEADER}, not <{target}>"
        if why:
            messages.append(f"{path}:{number}: {why}")
    return messages
