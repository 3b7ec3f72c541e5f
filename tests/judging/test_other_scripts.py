"""The shipped judgement in scripts that its English vectors cannot read."""

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill

from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.pipelines import load

RUSSIAN = [
    "Возврат денег производится в течение 30 дней после возврата товара.",
    "Стандартная доставка занимает три рабочих дня.",
    "Гарантия действует два года со дня покупки.",
    "Магазин открыт с понедельника по субботу.",
]
CHINESE = [
    "退款将在退货后三十天内支付到付款账户。",
    "标准配送需要三个工作日。",
    "保修期从购买之日起为两年。",
    "商店从星期一到星期六营业。",
]
KOREAN = [
    "환불은 상품이 창고에 도착한 후 30일 이내에 지급됩니다.",
    "램프의 보증 기간은 5년입니다.",
    "빠른 배송 요금은 12,500원입니다.",
    "오류 E42는 램프가 너무 뜨겁다는 뜻입니다.",
]
THAI = [
    "การคืนเงินจะจ่ายภายใน 30 วันหลังจากสินค้าถึงคลังสินค้า",
    "รหัสผ่านต้องมีอย่างน้อย 12 ตัวอักษร เปลี่ยนได้ในการตั้งค่า",
    "โคมไฟมีการรับประกันห้าปี",
    "เราไม่จัดส่งไปยังเกาะ",
]


@pytest.mark.parametrize(
    ("texts", "question", "verdict"),
    [
        (RUSSIAN, "Когда производится возврат денег?", "correct"),
        (RUSSIAN, "Кто чинит велосипеды в городе?", "incorrect"),
        (RUSSIAN, "Как изменить пароль учётной записи?", "incorrect"),
        (CHINESE, "退款什么时候支付?", "correct"),
        (CHINESE, "谁修理自行车?", "incorrect"),
        (THAI, "การคืนเงินจะจ่ายเมื่อไหร่", "correct"),
        (THAI, "เปลี่ยนรหัสผ่านได้อย่างไร", "correct"),
        (THAI, "ประธานาธิบดีคือใคร", "incorrect"),
        (KOREAN, "환불이 언제 지급되나요?", "correct"),
        (KOREAN, "램프 보증은 몇 년인가요?", "correct"),
        (KOREAN, "자전거를 어디서 수리할 수 있나요?", "incorrect"),
        (KOREAN, "주차장 요금은 얼마입니까?", "incorrect"),
    ],
)
def test_a_question_that_shares_no_word_with_the_documents_is_incorrect_in_any_script(
    in_memory_store: InMemoryDocumentStore, texts: list[str], question: str, verdict: str
) -> None:
    """To the vectors any two texts in Cyrillic are alike, and the signs of "what time" are in no Chinese answer."""
    fill(in_memory_store, [Document(content=text) for text in texts])
    record = load("corrective_retrieval", store=in_memory_store).run(query=question)["crag"]
    assert record["verdict"] == verdict


def test_twice_as_many_signs_as_words_prove_no_more_than_the_words() -> None:
    """The sum of what is found grows with the signs of a question: two of them are about one word."""
    texts = ["软件包维护者联系地址", "天气预报"]
    documents = [Document(content=text) for text in texts]
    found = HeuristicGrader().run("软件包维护者地址 电话号码传真邮政编码", documents)["signals"]["documents"]
    assert found[documents[0].id]["answers"] < 0.5
