"""
Corrective RAG for Haystack 3: grade what was retrieved, and correct it before answering.

components/   the parts: one file, one component, one name
yaml/         the shipped pipelines: the YAML is the pipeline
pipelines/    load a shipped pipeline on your store and models; index documents; stores
vocabulary    the words: grade, verdict, action, mode
grades        a document's grade, kept in `document.meta["crag"]`
state         what one run knows; travels on sockets
errors        the exception tree
tracing       spans for an app of your own, in one line
cli           the `crag` command

Behind the components, each a folder: deciding (router), grading (by a model), judging (without one), expansion (of a
question), refining (into strips), web, caching.
"""

__version__ = "0.1.0"
