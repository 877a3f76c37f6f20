"""The first hour with texts in any language (point 10): language, script and HTML are recognised and printed."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from manylabel import TextClassifier
from manylabel.data import load
from manylabel.exceptions import ManylabelWarning, ParameterError
from manylabel.features import Vectorizer
from manylabel.features.languages import RECOGNISED, guess_language
from manylabel.features.scripts import guess_tokens
from manylabel.features.terms import stemmer_languages
from manylabel.recipe import Recipe
from manylabel.tasks.choices import choices_of
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.models import inspect, train

# The sentences were written for this test; each language has the same letters to a town hall.
WITH_STEMMER = {
    "arabic": [
        "مصابيح الشارع في حينا معطلة منذ أسبوعين ولم يأت أحد لإصلاحها.",
        "أريد أن أعرف متى تكون المكتبة مفتوحة في يوم السبت.",
        "لم يتم جمع القمامة هذا الصباح وهي الآن على الرصيف.",
    ],
    "armenian": [
        "Մեր փողոցի լույսերը երկու շաբաթ է չեն աշխատում և ոչ ոք չի գալիս նորոգելու համար։",
        "Ես ուզում եմ իմանալ, թե երբ է գրադարանը բաց շաբաթ օրը։",
        "Աղբը այս առավոտ չի հավաքվել և այն հիմա մայթի վրա է։",
    ],
    "basque": [
        "Gure kaleko argiak bi aste daramatza hondatuta eta inor ez da etorri konpontzera.",
        "Jakin nahi nuke liburutegia larunbatetan noiz dagoen irekita, baina ez dut ordutegia ikusi.",
        "Zaborra ez dute gaur goizean jaso eta orain espaloian dago.",
    ],
    "catalan": [
        "Els fanals del nostre carrer estan espatllats des de fa dues setmanes i ningú no ve a arreglar-los.",
        "Voldria saber quan és oberta la biblioteca els dissabtes.",
        "No han recollit les escombraries aquest matí i ara són a la vorera.",
    ],
    "czech": [
        "Lampy v naší ulici jsou už dva týdny rozbité a nikdo je nepřišel opravit.",
        "Chtěl bych vědět, kdy je knihovna v sobotu otevřena.",
        "Odpadky dnes ráno nebyly odvezeny a teď leží na chodníku, který je pro chodce.",
    ],
    "danish": [
        "Gadelygterne i vores gade har været i stykker i to uger, og ingen kommer for at reparere dem.",
        "Jeg vil gerne vide, hvornår biblioteket har åbent om lørdagen.",
        "Skraldet blev ikke hentet i morges, og nu ligger det på fortovet.",
        "Kan du sige mig, hvad jeg skal gøre, hvis jeg ikke har fået noget brev fra kommunen?",
        "Der er mange huller i vejen, og de bliver kun større af regnen efter vinteren.",
    ],
    "dutch": [
        "De straatlantaarns in onze straat zijn al twee weken kapot en niemand komt ze repareren.",
        "Ik wil graag weten wanneer de bibliotheek op zaterdag open is.",
        "Het vuilnis is vanmorgen niet opgehaald en ligt nu op de stoep.",
    ],
    "english": [
        "The street lights in our road have been broken for two weeks and nobody has come to repair them.",
        "I would like to know when the library is open on Saturdays.",
        "The bins were not emptied this morning, which is why there is rubbish on the pavement.",
    ],
    "esperanto": [
        "La lampoj en nia strato ne funkcias jam de du semajnoj kaj neniu venas por ripari ilin.",
        "Mi volus scii, kiam la biblioteko estas malfermita sabate.",
        "La rubo ne estis forportita hodiaŭ matene kaj nun kuŝas sur la trotuaro.",
    ],
    "estonian": [
        "Meie tänava laternad on juba kaks nädalat katki ja keegi ei tule neid parandama.",
        "Ma tahaksin teada, millal raamatukogu on laupäeviti avatud.",
        "Prügi ei viidud täna hommikul ära ja see on nüüd kõnniteel.",
    ],
    "finnish": [
        "Katumme katuvalot ovat olleet rikki kaksi viikkoa, eikä kukaan ole tullut korjaamaan niitä.",
        "Haluaisin tietää, milloin kirjasto on auki lauantaisin.",
        "Roskia ei ole haettu tänä aamuna, ja nyt ne ovat jalkakäytävällä.",
    ],
    "french": [
        "Les lampadaires de notre rue sont en panne depuis deux semaines et personne ne vient les réparer.",
        "Je voudrais savoir quand la bibliothèque est ouverte le samedi.",
        "Les poubelles n'ont pas été vidées ce matin et il y a des déchets sur le trottoir.",
    ],
    "german": [
        "Die Straßenlampen in unserer Straße sind seit zwei Wochen kaputt und niemand repariert sie.",
        "Ich möchte wissen, wann die Bibliothek am Samstag geöffnet ist.",
        "Der Müll wurde heute nicht abgeholt, deshalb liegt er auf dem Gehweg.",
    ],
    "greek": [
        "Τα φώτα στον δρόμο μας δεν λειτουργούν εδώ και δύο εβδομάδες και κανείς δεν έρχεται να τα φτιάξει.",
        "Θα ήθελα να μάθω πότε είναι ανοιχτή η βιβλιοθήκη το Σάββατο.",
        "Τα σκουπίδια δεν μαζεύτηκαν σήμερα το πρωί και τώρα είναι στο πεζοδρόμιο.",
    ],
    "hindi": [
        "हमारी गली की बत्तियाँ दो हफ्ते से खराब हैं और कोई उन्हें ठीक करने नहीं आया है।",
        "मैं जानना चाहता हूँ कि पुस्तकालय शनिवार को कब खुला रहता है।",
        "आज सुबह कूड़ा नहीं उठाया गया और अब यह फुटपाथ पर है।",
    ],
    "hungarian": [
        "Az utcánkban két hete nem égnek a lámpák, és senki sem jön megjavítani őket.",
        "Szeretném tudni, hogy mikor van nyitva a könyvtár szombaton.",
        "A szemetet ma reggel nem vitték el, és most a járdán van.",
    ],
    "indonesian": [
        "Lampu jalan di jalan kami sudah rusak selama dua minggu dan tidak ada yang datang untuk memperbaikinya.",
        "Saya ingin tahu kapan perpustakaan buka pada hari Sabtu.",
        "Sampah tidak diambil pagi ini dan sekarang ada di trotoar.",
    ],
    "irish": [
        "Tá na soilse ar ár sráid briste le dhá sheachtain agus níor tháinig aon duine chun iad a dheisiú.",
        "Ba mhaith liom a fháil amach cathain a bhíonn an leabharlann oscailte ar an Satharn.",
        "Níor bailíodh an bruscar ar maidin agus tá sé ar an gcosán anois.",
    ],
    "italian": [
        "I lampioni della nostra strada sono rotti da due settimane e nessuno viene a ripararli.",
        "Vorrei sapere quando la biblioteca è aperta il sabato.",
        "La spazzatura non è stata raccolta questa mattina e ora si trova sul marciapiede.",
    ],
    "lithuanian": [
        "Mūsų gatvės žibintai neveikia jau dvi savaites ir niekas neatvyksta jų taisyti.",
        "Norėčiau sužinoti, kada biblioteka yra atidaryta šeštadieniais.",
        "Šiukšlės šį rytą nebuvo išvežtos ir dabar yra ant šaligatvio, kuris yra prie namo.",
    ],
    "nepali": [
        "हाम्रो टोलका सडक बत्ती दुई हप्तादेखि बिग्रिएको छ र कोही पनि मर्मत गर्न आएको छैन।",
        "पुस्तकालय शनिबार कति बजे खुल्छ भन्ने म जान्न चाहन्छु।",
        "आज बिहान फोहोर उठाइएको छैन र अहिले यो पेटीमा छ।",
    ],
    "norwegian": [
        "Gatelysene i gata vår har vært ødelagt i to uker, og ingen kommer for å reparere dem.",
        "Jeg vil gjerne vite når biblioteket er åpent på lørdager.",
        "Søppelet ble ikke hentet i morges, og nå ligger det på fortauet.",
        "Kan du si meg hva jeg skal gjøre hvis jeg ikke har fått noe brev fra kommunen?",
        "Det er mange hull i veien, og de blir bare større av regnet etter vinteren.",
    ],
    "persian": [
        "چراغ‌های خیابان ما دو هفته است که خراب شده و هیچ کس برای تعمیر آن نیامده است.",
        "می‌خواهم بدانم کتابخانه در روز شنبه چه ساعتی باز است.",
        "زباله‌ها امروز صبح جمع نشده و اکنون در پیاده رو است.",
    ],
    "polish": [
        "Latarnie na naszej ulicy są zepsute od dwóch tygodni i nikt nie przychodzi ich naprawić.",
        "Chciałbym wiedzieć, kiedy biblioteka jest otwarta w soboty.",
        "Śmieci nie zostały dziś rano wywiezione, a teraz leżą na chodniku przed domem.",
    ],
    "portuguese": [
        "Os candeeiros da nossa rua estão avariados há duas semanas e ninguém vem repará-los.",
        "Gostaria de saber quando a biblioteca está aberta aos sábados.",
        "O lixo não foi recolhido esta manhã e agora está no passeio.",
    ],
    "romanian": [
        "Lămpile de pe strada noastră sunt stricate de două săptămâni și nimeni nu vine să le repare.",
        "Aș vrea să știu când este deschisă biblioteca sâmbăta.",
        "Gunoiul nu a fost ridicat în această dimineață și acum este pe trotuar.",
    ],
    "russian": [
        "Фонари на нашей улице не работают уже две недели, и никто не приходит их чинить.",
        "Я хотел бы узнать, когда открыта библиотека по субботам.",
        "Мусор сегодня утром не вывезли, и теперь он лежит на тротуаре.",
    ],
    "serbian": [
        "Улична расвета у нашој улици не ради већ две недеље и нико није дошао да је поправи.",
        "Желео бих да знам када је библиотека отворена суботом.",
        "Ulična rasveta u našoj ulici ne radi već dve nedelje i niko nije došao da je popravi.",
        "Želeo bih da znam kada je biblioteka otvorena subotom, a koje knjige su nove.",
    ],
    "sesotho": [
        "Mabone a seterata sa rona a robehile bakeng sa libeke tse peli empa ha ho motho ea tlileng ho a lokisa.",
        "Ke batla ho tseba hore na laeborari e buloa neng ka Moqebelo.",
        "Lithole ha lia nkuoa hoseng hona 'me li teng tseleng ea batho.",
    ],
    "spanish": [
        "Las farolas de nuestra calle están rotas desde hace dos semanas y nadie viene a repararlas.",
        "Quisiera saber cuándo está abierta la biblioteca los sábados.",
        "No han recogido la basura esta mañana y ahora está en la acera.",
    ],
    "swedish": [
        "Gatlyktorna på vår gata har varit trasiga i två veckor och ingen kommer för att laga dem.",
        "Jag skulle vilja veta när biblioteket är öppet på lördagar.",
        "Soporna hämtades inte i morse och nu ligger de på trottoaren.",
    ],
    "tamil": [
        "எங்கள் தெருவில் உள்ள விளக்குகள் இரண்டு வாரங்களாக எரியவில்லை, ஆனால் யாரும் சரி செய்ய வரவில்லை.",
        "நூலகம் சனிக்கிழமை எப்போது திறந்து இருக்கும் என்று நான் அறிய விரும்புகிறேன்.",
        "இன்று காலை குப்பை எடுக்கப்படவில்லை, இது மிகவும் மோசமான ஒரு நிலை.",
    ],
    "turkish": [
        "Sokağımızdaki lambalar iki haftadır çalışmıyor ve kimse tamir etmeye gelmiyor.",
        "Kütüphanenin cumartesi günleri ne zaman açık olduğunu öğrenmek istiyorum, çünkü bu çok önemli.",
        "Çöp bu sabah alınmadı ve şimdi kaldırımda duruyor, bu bir sorun.",
    ],
    "yiddish": [
        "די לאָמפּן אויף אונדזער גאַס זענען צעבראָכן שוין צוויי וואָכן און קיינער איז נישט געקומען זיי צו פֿאַרריכטן.",
        "איך וויל וויסן ווען די ביבליאָטעק איז אָפֿן אין שבת.",
        "מען האָט נישט צוגענומען דאָס מיסט און עס ליגט אויף דער גאַס.",
    ],
}
WITHOUT_STEMMER = {
    "afrikaans": [
        "Die straatligte in ons straat is al twee weke stukkend en niemand het gekom om dit reg te maak nie.",
        "Ek wil graag weet wanneer die biblioteek op Saterdag oop is.",
        "Die vullis is vanoggend nie verwyder nie en dit lê nou op die sypaadjie.",
    ],
    "bulgarian": [
        "Лампите на нашата улица не работят от две седмици и никой не идва да ги поправи.",
        "Бих искал да знам кога е отворена библиотеката в събота.",
        "Боклукът не беше извозен тази сутрин и сега е на тротоара.",
    ],
    "galician": [
        "As farolas da nosa rúa están estragadas dende hai dúas semanas e ninguén vén arranxalas.",
        "Gustaríame saber cando está aberta a biblioteca os sábados.",
        "O lixo non foi recollido esta mañá e agora está na beirarrúa.",
    ],
    "hebrew": [
        "הפנסים ברחוב שלנו לא עובדים כבר שבועיים ואף אחד לא בא לתקן אותם.",
        "אני רוצה לדעת מתי הספרייה פתוחה בשבת, כי לא מצאתי את השעות.",
        "האשפה לא נאספה הבוקר ועכשיו היא על המדרכה.",
    ],
    "korean": [
        "우리 거리의 가로등이 두 주 동안 고장이 났는데 아무도 고치러 오지 않습니다.",
        "도서관이 토요일에 언제 여는지 알고 싶습니다.",
        "오늘 아침 쓰레기를 수거하지 않아서 지금 인도에 있습니다.",
    ],
    "latin": [
        "Lucernae in via nostra iam duas septimanas non lucent neque quisquam venit ut eas reparet.",
        "Scire velim quando bibliotheca die Saturni aperta sit.",
        "Purgamenta hodie mane non sunt ablata et nunc in via iacent.",
    ],
    "latvian": [
        "Mūsu ielas laternas nedarbojas jau divas nedēļas un neviens nenāk tās labot.",
        "Es vēlētos zināt, kad bibliotēka ir atvērta sestdienās.",
        "Atkritumi šorīt netika izvesti un tagad ir uz ietves, kas ir pie mājas.",
    ],
    "marathi": [
        "आमच्या रस्त्यावरचे दिवे दोन आठवड्यांपासून बंद आहेत आणि कोणीही ते दुरुस्त करायला आले नाही.",
        "शनिवारी वाचनालय कधी उघडे असते हे मला जाणून घ्यायचे आहे.",
        "आज सकाळी कचरा उचलला नाही आणि आता तो पदपथावर आहे.",
    ],
    "slovak": [
        "Lampy na našej ulici sú už dva týždne rozbité a nikto ich neprišiel opraviť.",
        "Chcel by som vedieť, kedy je knižnica v sobotu otvorená.",
        "Odpadky dnes ráno neboli odvezené a teraz ležia na chodníku, ktorý je pre chodcov.",
    ],
    "slovenian": [
        "Ulične svetilke v naši ulici so že dva tedna pokvarjene in nihče jih ni prišel popravit.",
        "Rad bi vedel, kdaj je knjižnica odprta ob sobotah.",
        "Smeti danes zjutraj niso odpeljali in so zdaj na pločniku.",
    ],
    "swahili": [
        "Taa za barabarani katika mtaa wetu zimeharibika kwa wiki mbili na hakuna mtu aliyekuja kuzitengeneza.",
        "Ningependa kujua maktaba inafunguliwa saa ngapi siku ya Jumamosi.",
        "Takataka hazikuchukuliwa asubuhi hii na sasa ziko kando ya barabara.",
    ],
    "ukrainian": [
        "Ліхтарі на нашій вулиці не працюють вже два тижні, і ніхто не приходить їх полагодити.",
        "Я хотів би дізнатися, коли бібліотека відкрита по суботах.",
        "Сміття сьогодні вранці не вивезли, і тепер воно лежить на тротуарі.",
    ],
    "urdu": [
        "ہماری گلی کی بتیاں دو ہفتوں سے خراب ہیں اور کوئی ان کو ٹھیک کرنے نہیں آیا۔",
        "میں جاننا چاہتا ہوں کہ لائبریری ہفتے کے دن کب کھلی ہوتی ہے۔",
        "آج صبح کوڑا نہیں اٹھایا گیا اور اب یہ فٹ پاتھ پر ہے۔",
    ],
    "vietnamese": [
        "Đèn đường trên phố của chúng tôi đã hỏng hai tuần và không ai đến sửa.",
        "Tôi muốn biết thư viện mở cửa lúc nào vào thứ bảy.",
        "Rác không được thu gom sáng nay và bây giờ nó ở trên vỉa hè.",
    ],
}
CHINESE = {
    "交通": ["公交车又晚点了", "地铁站太挤了", "路口的红绿灯坏了", "公交车司机态度不好"],
    "环境": ["垃圾没有及时清理", "河水很脏有臭味", "公园里的树被砍了", "垃圾桶太少"],
}
ARCHAEOLOGY = Path(os.environ.get("MANYLABEL_DATA", "")) / "annif" / "archaeology" / "documents.tsv"


def chinese() -> tuple[list[str], list[list[str]]]:
    """Texts of two clauses, so that no clause-long token is shared by many."""
    pairs = [
        (f"{one}，{two}。{number}", [label])
        for label, clauses in CHINESE.items()
        for number, one in enumerate(clauses)
        for two in clauses
    ]
    return [text for text, _ in pairs], [labels for _, labels in pairs]


@pytest.mark.parametrize("language", WITH_STEMMER)
def test_point_10_every_snowball_language_is_recognised(language: str) -> None:
    """Point 10: a few sentences are enough, also between near languages (Danish and Norwegian, Czech and Polish)."""
    assert guess_language(WITH_STEMMER[language]) == language


@pytest.mark.parametrize("language", WITHOUT_STEMMER)
def test_point_10_a_language_without_a_stemmer_is_not_taken_for_its_neighbour(language: str) -> None:
    """Point 10: Ukrainian is not stemmed as Russian, Galician not as Portuguese, Slovak not as Czech."""
    assert guess_language(WITHOUT_STEMMER[language]) is None


def test_point_10_all_stemmers_can_be_chosen() -> None:
    """Point 10: every language of Snowball is recognised; only its second stemmers must be named."""
    assert set(stemmer_languages()) - {"porter", "dutch_porter"} <= set(RECOGNISED)
    assert set(WITH_STEMMER) == set(RECOGNISED)


@pytest.mark.parametrize(
    ("text", "tokens", "terms"),
    [
        ("公交车又晚点了", "pairs", ["交车", "公交", "又晚", "晚点", "点了", "车又"]),
        ("バスが遅れた", "pairs", ["が遅", "れた", "スが", "バス", "遅れ"]),
        ("รถเมล์", "pairs", ["ถเ", "มล", "รถ", "ล์", "เม"]),
        ("बस फिर देर से आई", "marked", ["आई", "देर", "फिर", "बस", "से"]),
        ("the bus was late", "words", ["bus", "late", "the", "was"]),
        ("버스가 늦었다", "words", ["늦었다", "버스가"]),
    ],
)
def test_point_10_the_script_decides_how_texts_are_split(text: str, tokens: str, terms: list[str]) -> None:
    """Point 10: character pairs where words are not separated; vowel signs stay inside words."""
    assert guess_tokens([text]) == tokens
    vectorizer = Vectorizer(tokens="auto").fit([text])
    assert (vectorizer.tokens_, vectorizer.terms_) == (tokens, terms)
    assert Vectorizer(tokens=tokens).fit([text]).terms_ == terms


def test_point_10_words_inside_chinese_texts_stay_whole() -> None:
    """Point 10: a mixed text gives pairs of characters and whole Latin words."""
    vectorizer = Vectorizer(tokens="pairs").fit(["我的VPN连不上 server 2024年"])
    assert vectorizer.terms_ == ["2024", "server", "vpn", "不上", "我的", "连不"]


def test_point_10_html_is_removed_where_most_documents_have_it() -> None:
    """Point 10: tags, comments, scripts and entities go if more than half of the documents contain HTML."""
    pages = ["<p class=x>late&nbsp;bus</p>", "<div>bad<br/>road</div><script>var a;</script>", "x < y, plain text"]
    assert Vectorizer(markup="auto").fit(pages).terms_ == ["bad", "bus", "late", "plain", "road", "text"]
    few = Vectorizer(markup="auto").fit([pages[0], *pages[2:] * 2])
    assert not few.strips_markup_
    assert "class" in few.terms_
    assert "class" in Vectorizer().fit(pages).terms_
    assert Vectorizer(markup="strip").fit(pages[:1]).terms_ == ["bus", "late"]


def test_point_10_the_choices_are_stored_and_used_for_one_document(tmp_path: Path) -> None:
    """Point 10: a stored model reads one document and many as the trained one does, whatever their own script."""
    texts, labels = chinese()
    pages = [f"<p>{text}</p>" for text in texts]
    model = TextClassifier("svm", folds=2).fit(pages, labels)
    vectorizer = model.features_.vectorizer_
    assert vectorizer is not None
    assert (vectorizer.tokens_, vectorizer.strips_markup_) == ("pairs", True)
    assert vectorizer.reading_ == ["pairs of characters", "HTML removed"]
    model.save(tmp_path / "model.mlm")
    stored = TextClassifier.load(tmp_path / "model.mlm")
    new = ["今天公交车晚点", "<b>垃圾桶</b>太少", "plain words", "河水&nbsp;很脏"]
    expected = [["交通"], ["环境"], [], ["环境"]]
    for one in (model, stored):
        assert [one.predict([text])[0] for text in new] == expected
        assert one.predict(new * 10) == expected * 10
    assert model.score(pages, labels) == 1.0


def test_point_10_pairs_beat_clauses_on_chinese() -> None:
    """Point 10: new texts share pairs of characters with the training texts, but hardly ever a whole clause."""
    texts, labels = chinese()
    new, truth = ["公交车没来", "红绿灯不亮", "河边有垃圾", "树都死了"], [["交通"], ["交通"], ["环境"], ["环境"]]
    pairs = TextClassifier("svm", folds=2).fit(texts, labels)
    clauses = TextClassifier("svm", folds=2, features={"tokens": "words"}).fit(texts, labels)
    assert pairs.score(new, truth) >= 0.75
    assert clauses.score(new, truth) == 0.0


def test_point_10_keyword_rules_read_the_same_texts() -> None:
    """Point 10: a rule in Chinese is found, and words inside HTML tags are not."""
    texts, labels = chinese()
    rules = {"交通": "公交车 OR span", "环境": "垃圾桶"}
    model = TextClassifier("svm", folds=2, features={"rules": rules})
    model.fit([f"<span>{text}</span>" for text in texts], labels)
    assert model.predict(["<span>买了公交车票</span>", "<span>zzz</span>"]) == [["交通"], []]


def test_point_10_what_was_chosen_is_printed(tmp_path: Path) -> None:
    """Point 10: reading reports language or script and HTML, training the stems, pairs and removed HTML."""
    texts, labels = chinese()
    with (tmp_path / "zh.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("text", "labels"), *((f"<p>{t}</p>", "; ".join(s)) for t, s in zip(texts, labels))]
        )
    source = Source(str(tmp_path / "zh.csv"))
    assert choices_of(load_source(source).corpus)[-2:] == ["a script without spaces", "HTML in most documents"]
    trained = train(source, tmp_path / "zh.mlm", method="svm")
    assert trained.record.reading == ["pairs of characters", "HTML removed"]
    assert inspect(tmp_path / "zh.mlm").texts == ["pairs of characters", "HTML removed"]


def test_point_10_stored_choices_are_checked() -> None:
    """Point 10: a model file cannot bring in a pattern of its own."""
    state = Vectorizer(tokens="auto").fit(["the bus"]).learned_state()
    with pytest.raises(ParameterError, match="stored tokens"):
        Vectorizer(tokens="auto").restore({**state, "tokens_": "(a+)+$"})


def test_point_10_letters_warn_of_the_letters_they_drop() -> None:
    """Point 10: the tokens of Vilar's paper are a to z; texts in another alphabet are not split silently."""
    with pytest.warns(ManylabelWarning, match="only the letters a to z, and 99 % of the letters"):
        Vectorizer(tokens="letters").fit([*WITH_STEMMER["russian"], "a"])
    Vectorizer(tokens="letters").fit([*WITH_STEMMER["english"], "a naïve café"])


@pytest.mark.skipif(not ARCHAEOLOGY.exists(), reason="MANYLABEL_DATA holds no Annif corpus")
def test_point_10_finnish_records_are_read_as_finnish() -> None:
    """Point 10: Annif's Finnish corpus is recognised."""
    texts = [line.partition("\t")[0] for line in ARCHAEOLOGY.read_text(encoding="utf-8").splitlines()]
    assert guess_language(texts) == "finnish"


def test_point_10_the_guess_costs_little() -> None:
    """Point 10: at most 1000 texts are looked at, whatever the number of documents."""
    looked_at: list[int] = []

    class Texts(list[str]):
        def __getitem__(self, number: Any) -> Any:
            looked_at.extend(range(len(self))[number] if isinstance(number, slice) else [number])
            return super().__getitem__(number)

        def __iter__(self) -> Iterator[str]:
            return (self[number] for number in range(len(self)))

    assert guess_language(Texts(["the bus was late again and the stop was full of people"] * 20_000)) == "english"
    assert 0 < len(looked_at) <= 1000


def test_point_10_english_is_read_as_before() -> None:
    """Point 10: on English letters "auto" is "words" without markup, so that presets of papers change nothing."""
    texts = load("townhall").corpus.texts
    chosen = Vectorizer(tokens="auto", markup="auto").fit(texts)
    plain = Vectorizer().fit(texts)
    assert (chosen.tokens_, chosen.strips_markup_) == ("words", False)
    assert chosen.terms_ == plain.terms_
    assert abs(chosen.transform(texts) - plain.transform(texts)).sum() == 0
    assert Recipe.of("nb-binary").vectorizer_settings["tokens"] == "letters"
