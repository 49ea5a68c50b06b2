"""typed: what went wrong with a model, as a stable code and a sentence without secrets."""

from __future__ import annotations

from pydantic_ai import exceptions as e

CODES: tuple[tuple[type[BaseException], str, str], ...] = (
    (e.ModelAuthenticationError, "provider_auth", "The model's provider refuses the key."),
    (e.ModelRateLimitError, "rate_limited", "The model's provider asks to wait."),
    (e.ModelQuotaExceededError, "quota_exceeded", "The budget at the model's provider is used up."),
    (e.ModelContextWindowExceededError, "context_too_long", "The text is too long for the model."),
    (e.ModelNotFoundError, "model_not_found", "The provider does not know this model."),
    (e.ModelTimeoutError, "model_timeout", "The model did not answer in time."),
    (e.ModelRequestTimeout, "model_timeout", "The model did not answer in time."),
    (e.ModelConnectionError, "model_unreachable", "The model's provider cannot be reached."),
    (e.ModelAPIError, "provider_error", "The model's provider answered with an error."),
    (e.UsageLimitExceeded, "limit_reached", "A limit of this piece of work is reached."),
    (e.OutputTokenLimitExceeded, "token_limit", "The model's answer was cut off."),
    (e.UserError, "model_settings", "The settings of the model are not right."),
    (e.UnexpectedModelBehavior, "bad_model_output", "The model's answers could not be used."),
)

STATUSES: dict[int, type[BaseException]] = {  # of errors that say no more than their status
    401: e.ModelAuthenticationError,
    403: e.ModelAuthenticationError,
    404: e.ModelNotFoundError,
    408: e.ModelTimeoutError,
    429: e.ModelRateLimitError,
    504: e.ModelTimeoutError,
}


def typed(error: BaseException) -> tuple[str, str]:
    """Return the code and the sentence for an error; `internal` for one that is a bug of ours."""
    by_status = STATUSES.get(error.status_code) if type(error) is e.ModelHTTPError else None
    for kind, code, message in CODES:
        if isinstance(error, kind) or by_status is kind:
            if code == "provider_error" and isinstance(error, e.ModelHTTPError):
                return code, f"The model's provider answered with status {error.status_code}."
            return code, message
    return "internal", "Something went wrong here."
