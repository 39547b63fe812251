"""The table that the peer wer compares on: pairs of texts in fifteen languages, made the same way every time.

Sources. The sentences are this project's own, written for this table, except the first article of the Universal
Declaration of Human Rights (United Nations, 1948; in the public domain) and the line from John F. Kennedy's inaugural
address of 1961 (a work of the United States government, in the public domain). All else is systematic: English
templates filled with every number word, sign, contraction, title and spelling rule, and edits of every sentence
(words lost, doubled, swapped, replaced; case, punctuation, brackets, spacing and Unicode forms changed).
"""

import random
import unicodedata

# Two sentences of the same meaning are hypothesis and reference of a hard pair; the list is read in twos as well.
SENTENCES = {
    "en": [
        "And so, my fellow Americans: ask not what your country can do for you, ask what you can do for your country.",
        "All human beings are born free and equal in dignity and rights.",
        "The night train leaves platform nine at 23:45; don't be late!",
        "Mr. Brown's colour-blind neighbour can't organise the theatre programme.",
        "I'd have gone if they'd told me it's been cancelled, wouldn't you?",
        "Um, she paid twenty-five dollars and ten cents for one hundred and one grey jewels.",
        "Dr. Lee's analogue clock lost 2.5 per cent of its time (roughly) in the 1990s.",
        "Let's meet on the twenty first of May, nineteen ninety nine, at three thirty.",
        "We're gonna need three point five million litres, that's all.",
        "The [inaudible] façade of the café was naïve – very naïve – and cost £1,250.75.",
    ],
    "de": [
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
        "Der Nachtzug fährt um 23:45 Uhr von Gleis neun ab, sei bitte pünktlich!",
        "Die Straße war nass, und das große Übel begann erst danach (leider).",
        "Fünfundzwanzig Äpfel kosten 12,50 € – das ist zu viel.",
        "Möchtest du morgen früh über die Brücke gehen oder lieber schwimmen?",
    ],
    "fr": [
        "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
        "Le train de nuit part à 23 h 45 ; ne soyez pas en retard !",
        "L'œuf était déjà cassé, ça m'a coûté vingt-cinq euros.",
        "Où as-tu mis la clé que j'avais laissée près de la fenêtre ?",
        "Nous n'irons plus au théâtre [rires], c'est trop loin.",
    ],
    "es": [
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
        "¿A qué hora sale el tren nocturno? ¡No llegues tarde!",
        "El niño comió pingüinos de chocolate por 3,75 €.",
        "Mañana iré al médico con mi compañera, según dijo.",
        "La canción más bonita duró casi veinticinco minutos.",
    ],
    "it": [
        "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
        "Il treno notturno parte alle 23:45, perché non vieni più presto?",
        "L'università è lì, vicino alla città vecchia.",
        "Ho comprato venticinque mele per dodici euro e cinquanta.",
    ],
    "pl": [
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
        "Pociąg nocny odjeżdża o 23:45, nie spóźnij się!",
        "Zażółć gęślą jaźń, mówiła łódzka ćma.",
        "Kupiłem dwadzieścia pięć jabłek za 12,50 zł.",
    ],
    "ru": [
        "Все люди рождаются свободными и равными в своём достоинстве и правах.",
        "Ночной поезд отходит в 23:45, не опаздывай!",
        "Ёжик нашёл подъезд № 25 ещё вчера вечером.",
        "Почему йогурт стоит двадцать пять рублей?",
    ],
    "el": [
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
        "Το νυχτερινό τρένο φεύγει στις 23:45· μην αργήσεις!",
        "Ο ΣΙΣΥΦΟΣ ΚΑΙ Ο ΟΔΥΣΣΕΑΣ ΠΗΓΑΝ ΣΤΟΝ ΠΕΙΡΑΙΑ.",
        "Γιατί κοστίζει είκοσι πέντε ευρώ;",
    ],
    "tr": [
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
        "İstanbul'dan Iğdır'a giden gece treni 23:45'te kalkıyor.",
        "IŞIK ve ÇİĞDEM yirmi beş elma aldı.",
        "Şöyle güzel bir gün, değil mi?",
    ],
    "ar": [
        "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
        "يغادر القطار الليلي الساعة ٢٣:٤٥، لا تتأخر!",
        "اشتريتُ خمسًا وعشرين تفاحةً بسعر ١٢٫٥٠ دينار.",
        "أين وضعتَ المفتاح؟",
    ],
    "hi": [
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
        "रात की गाड़ी २३:४५ बजे छूटती है, देर मत करना!",
        "क्या तुमने पच्चीस सेब ख़रीदे?",
        "कल हम नदी के किनारे चलेंगे।",
    ],
    "zh": [
        "人人生而自由,在尊严和权利上一律平等。",
        "夜班火车二十三点四十五分开车，别迟到！",
        "我买了２５个苹果，一共花了十二块五（真贵）。",
        "「你好」用英语怎么说？",
    ],
    "ja": [
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        "夜行列車は２３時４５分に出発します。遅れないで！",
        "ﾘﾝｺﾞを二十五個、千二百円で買いました。",
        "「がんばって」と彼女は言った（笑）。",
    ],
    "ko": [
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
        "밤 기차는 23시 45분에 떠나니 늦지 마세요!",
        "사과 스물다섯 개를 만 이천 원에 샀어요.",
        "열쇠를 어디에 두었니?",
    ],
    "th": [
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
        "รถไฟกลางคืนออกเวลา ๒๓:๔๕ น. อย่าสายนะ!",
        "ฉันซื้อแอปเปิ้ลยี่สิบห้าลูกราคา 120 บาท",
        "น้ำใจเธองามมาก",
    ],
}

ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = "hundred thousand million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion".split()
ENDED = ("zeroth first second third fourth fifth sixth seventh eighth ninth nineth tenth eleventh twelfth thirteenth nineteenth "
         "twentieth thirtieth ninetieth hundredth thousandth millionth ones twos threes sixes elevens twelves twenties nineties hundreds thousands millions").split()
CONTRACTED = ("won't can't let's ain't y'all wanna kinda sorta dunno gotta gonna i'ma imma woulda coulda shoulda cause ma'am "
              "i'd been it's been she'd gone he's gone they'd done it's got isn't we're that's he'd you'll 't i've i'm o'clock rock'n'roll").split(" ")
TITLES = "mr mrs st dr prof capt gov ald gen sen rep pres rev hon asst assoc lt col jr sr esq".split()
SPELLINGS = ("colour favourite centre organise analyse travelled grey theatre programme defence catalogue jewellery aluminium tyre cheque "
             "plough sceptical pyjamas moustache cosy storey kerb licence practise fulfil enrol skilful").split()
DIGITS = "0 00 1 1s 2 3.0 3.14 007 10 12 42 100 101 999 1000 1,000 1,2,3 12,345,678 1.5 .5 5. 1.2.3 192.168.0.1 ٣ ٣.٥ १२ １２ ½ ² Ⅻ 1st 2nd 3 rd 4 th 5s 1960s 10:30 3/4 2-3 a1b2 50% 5 % % $5 $1 $0.07 $ 5 £3.50 €0.5 ¢7 5$".split(" ")


def english_rows():
    """Rows that put every word of the English rules where it can act."""
    numbers = ONES + TENS
    yield from ((f"there are {n} of them", f"there are {n}s of them") for n in numbers)
    yield from ((f"it was {t} {o}", f"it was {t}-{o}") for t in TENS for o in ONES[:12:2])
    yield from ((f"{n} {s} and {m} years", f"{n} {s} {m} years") for n, m in (("one", "five"), ("two", "twelve"), ("three", "forty five"), ("nineteen", "ninety nine")) for s in SCALES)
    yield from ((f"{o} {s} {p} {q}", f"{o} point {p} {s}") for o in ("two", "twelve", "twenty") for s in SCALES[:5] for p in ("three", "thirty") for q in ("hundred", "thousand", "seven"))
    yield from ((f"the {e} of {n}", f"the {n} {e}") for e in ENDED for n in ("two", "twenty", "twenty one", "one hundred", "oh", "3", "3.5"))
    yield from ((f"{d} and {e}", f"{e} {d} {e}") for d in DIGITS for e in ("five", "million", "point five", "percent", "dollars", "second", "and a half", "oh", ""))
    yield from ((f"minus {d} plus {n}", f"negative {n} positive {d}") for d in DIGITS[:20] for n in ("three", "apples"))
    yield from ((f"{n} {c} and {m} cents", f"{n} {c} {m} cent") for n in ("two", "zero", "0", "ten", "one") for c in ("dollars", "pounds", "euros", "euro", "cents") for m in ("seven", "seventy", "5", "one hundred"))
    yield from ((f"double {a} triple {b}", f"triple {a} {b} double") for a in ("oh", "one", "twelve", "twenty", "x", "5") for b in ("zero", "nine", "half"))
    yield from ((f"{w} and a half {u}", f"{w} and  a\thalf") for w in ("one", "day", "five", "ten", "3", "oh", "million") for u in ("million", "dollars", "per cent", "percent", "per hour", ""))
    yield from ((f"He said {c} today", f"{c.upper()} 's said") for c in CONTRACTED)
    yield from ((f"{t}. Smith and {t.title()} Jones", f"{t}smith {t} , {t}'s") for t in TITLES)
    yield from ((f"the {s}, {s.upper()}", f"{s}s {s}") for s in SPELLINGS)
    yield from ((f"uh {w} um", f"hmm, {w}mm mhm") for w in ("word", "um", "(uh)", "[mm", "<i>x</i>", "()", "((a))", "]x[", "a (b) c) d", "uh_um", "naïve-um"))
    yield from ((a, b) for a in ("", " ", "!", "word", "[gone]", "%", "$", "one") for b in ("", "   ", "word", "?!", "two words"))


def edits(text, spaced, rnd):
    """Systematic edits of one sentence; yields hypotheses."""
    parts = text.split(" ") if spaced else list(text)
    glue = " " if spaced else ""
    yield text
    yield ""
    yield text.upper()
    yield text.lower()
    yield text + " " + text
    yield unicodedata.normalize("NFD", text)
    yield unicodedata.normalize("NFKC", text)
    yield "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    yield "".join(c for c in text if unicodedata.category(c)[0] not in "PS")
    yield text.replace(" ", "  ").replace(",", " , ") + "\n"
    yield "[noise] " + text + " (music)"
    yield text.replace("'", "’").replace(" ", "\u00a0")
    for k in range(8):
        words = list(parts)
        for _ in range(1 + k // 2):
            at = rnd.randrange(len(words))
            kind = rnd.randrange(5)
            if kind == 0 and len(words) > 1:
                del words[at]
            elif kind == 1:
                words.insert(at, words[rnd.randrange(len(words))])
            elif kind == 2:
                words[at] = words[rnd.randrange(len(words))]
            elif kind == 3 and at + 1 < len(words):
                words[at], words[at + 1] = words[at + 1], words[at]
            else:
                words[at] = words[at][::-1]
        yield glue.join(words)


def rows():
    """All rows: (language, mode, reference, hypothesis); mode names a normaliser and its options."""
    rnd = random.Random(20261129)
    for ref, hyp in english_rows():
        yield "en", "english", ref, hyp
    for language, sentences in SENTENCES.items():
        spaced = language not in ("zh", "ja", "th")
        modes = ["basic", "diacritics", "split", "split-diacritics"]
        modes = ["english", *modes] if language == "en" else modes + (["english"] if spaced else [])
        for i, text in enumerate(sentences):
            hypotheses = [*edits(text, spaced, rnd), sentences[i - 1]]
            for k, hyp in enumerate(hypotheses):
                first = modes[0] if spaced else "split"
                yield language, first, text, hyp
                yield language, modes[1 + (i + k) % (len(modes) - 1)], text, hyp
