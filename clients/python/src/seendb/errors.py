"""What a call raises."""


class Error(Exception):
    """A call that failed: refused by the server, or not answered.

    code      the server's word ("invalid_argument", "not_found", "overloaded", ...), or, where no server
              answered, "unavailable" (nobody could be reached), "timeout" (the time was over), "protocol"
              (what answered is no SeenDB, or lied about its length), "closed" (this client is closed)
    message   what is wrong, in a sentence
    field     a JSON pointer to the input at fault ("/items/0"); empty: none
    status    of the HTTP answer; 0: none came
    """

    def __init__(self, code, message, field="", status=0, unsent=False):
        super().__init__(code, message, field, status)
        self.code, self.message, self.field, self.status = code, message, field, status
        self.unsent = unsent  # no server has read the request

    def __str__(self):
        return "%s: %s%s" % (self.code, self.message, " (%s)" % self.field if self.field else "")


class Refused(Error):
    """Every event of a call was refused (HTTP 422). `recorded` says which and why."""

    def __init__(self, error, recorded):
        super().__init__(error.code, error.message, error.field, error.status)
        self.recorded = recorded
