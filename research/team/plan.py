"""What the leader hands over: the plan."""

from pydantic import BaseModel, Field

MAX_TASKS = 8


class PlannedTask(BaseModel):
    """One sub-question of the plan."""

    title: str = Field(description="A few words that name the sub-question.", max_length=300)
    intent: str = Field(default="", description="What an answer must make clear.", max_length=2000)
    query: str = Field(description="The words to search with.", max_length=2000)


class Plan(BaseModel):
    """The sub-questions that together answer the question, most important first."""

    tasks: list[PlannedTask] = Field(min_length=1, max_length=MAX_TASKS)
