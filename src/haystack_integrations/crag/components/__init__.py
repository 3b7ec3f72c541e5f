"""The components. YAML names a component by its own module, `...crag.components.crag_router.CragRouter`."""

from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.csv_to_markdown import CsvToMarkdown
from haystack_integrations.crag.components.docx_to_markdown import DocxToMarkdown
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.evidence_prompt_builder import EvidencePromptBuilder
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.html_to_markdown import HtmlToMarkdown
from haystack_integrations.crag.components.hyphen_joiner import HyphenJoiner
from haystack_integrations.crag.components.long_passage_splitter import LongPassageSplitter
from haystack_integrations.crag.components.passage_titler import PassageTitler
from haystack_integrations.crag.components.pdf_to_markdown import PdfToMarkdown
from haystack_integrations.crag.components.pptx_to_markdown import PptxToMarkdown
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.components.rule_prefilter import RulePrefilter
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.components.stop_word_remover import StopWordRemover
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.components.xlsx_to_markdown import XlsxToMarkdown

__all__ = [
    "AnswerGenerator",
    "BatchRelevanceGrader",
    "CascadeGate",
    "CragRouter",
    "CsvToMarkdown",
    "DocxToMarkdown",
    "EvidenceJoiner",
    "EvidencePromptBuilder",
    "FollowUpRewriter",
    "HeuristicGrader",
    "HtmlToMarkdown",
    "HyphenJoiner",
    "LongPassageSplitter",
    "PassageTitler",
    "PdfToMarkdown",
    "PptxToMarkdown",
    "QueryExpander",
    "QuestionGuard",
    "RankerGrader",
    "RecordBuilder",
    "ReportingRetriever",
    "ReportingTextEmbeddingRetriever",
    "RulePrefilter",
    "SearXNGWebSearch",
    "StaticDocumentEmbedder",
    "StaticTextEmbedder",
    "StopWordRemover",
    "StripRefiner",
    "WebFallback",
    "XlsxToMarkdown",
]
