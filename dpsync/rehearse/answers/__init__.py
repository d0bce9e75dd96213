"""What each answer of a platform gives to the world of a rehearsal.

    rows        by the path of an answer, who takes it
    draft       a world while answers are taken: organizations, people, and what is put together at the end
    people, spaces, jobs, navigation, sites, integrations
                those who take answers, one for each part of the platform
    assumed     what a step names where no answer showed whether it is there
    secrets     what is in answers and in no world

In go answers, those of short paths before those below them. Out comes a draft, which `world.py`
finishes. Nothing else calls this room.
"""
