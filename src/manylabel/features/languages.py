"""Stop words of several languages, and the language of texts as their stop words show it.

The lists were written for manylabel. They contain articles, pronouns, prepositions, conjunctions, auxiliary verbs and
the most common adverbs, in lower case and, where the language has them, with accents. Fragments before or after an
apostrophe ("ll", "qu", "dell") are included, because tokens end at an apostrophe.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from manylabel.exceptions import UnknownNameError
from manylabel.features.scripts import MARKED_WORDS, MAX_CHARACTERS, has_markup, spread, without_markup

_WORDS = {
    "english": """
        a an the this that these those such i me my mine myself we us our ours ourselves you your yours
        yourself yourselves he him his himself she her hers herself it its itself they them their theirs
        themselves one who whom whose which what and or but nor so yet if then else because as until while
        although though unless whereas whether since than of at by for with about against between among into
        through during before after above below to from up down in out on off over under upon within without
        toward towards via per across along around behind beside besides beyond despite except near onto is
        am are was were be been being have has had having do does did doing done will would shall should can
        could may might must ought cannot not no only own same too very just also again further once here
        there when where why how all any both each few more most other others some every either neither
        another many much several less least now ever never always often however therefore thus hence still
        even already almost ll ve re don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn
        shouldn""",
    "german": """
        der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem jener
        jene jenes jenen jenem welcher welche welches welchen welchem solche solcher solches ich mich mir
        mein meine meinen meinem meiner du dich dir dein deine er ihn ihm sein seine seinen seinem seiner
        seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser unsere unseren euch euer eure man sich
        wer wen wem wessen was und oder aber denn sondern doch sowie weder noch wenn als dass daß weil ob
        obwohl während bevor nachdem damit indem falls je desto bis in im an am auf aus bei beim bis durch
        für gegen hinter mit nach neben ohne seit über um unter von vom vor zu zum zur zwischen wegen trotz
        innerhalb außerhalb bin bist ist sind seid war waren gewesen wird werden wurde wurden worden
        geworden werde habe hat haben hatte hatten gehabt kann können konnte konnten muss muß müssen musste
        soll sollen sollte sollten will wollen wollte darf dürfen mag möge möchte nicht kein keine keinen
        keinem keiner nur auch sehr so schon noch immer wieder hier dort da dann nun jetzt wie wo wann warum
        wohin woher alle allem allen aller alles viel viele vielen mehr einige einigen etwas nichts jede
        jeden jedem jeder jedes ander andere anderen anderer anderes beide beiden selbst dazu dabei dafür
        davon darauf daran darin hin her also""",
    "french": """
        le la les un une des du de au aux ce cet cette ces je me moi mon ma mes tu te toi ton ta tes il elle
        lui se soi son sa ses on nous notre nos vous votre vos ils elles leur leurs eux en y qui que quoi
        dont où lequel laquelle lesquels lesquelles quel quelle quels quelles celui celle ceux celles cela
        ceci ça et ou mais donc or ni car si comme quand lorsque puisque parce afin tandis ainsi à dans par
        pour sur sous avec sans entre vers chez contre depuis dès pendant avant après devant derrière jusque
        jusqu selon malgré hors parmi est sont était étaient être été étant suis es sommes êtes sera seront
        serait fut furent soit ai as a avons avez ont avait avaient avoir eu ayant aura auront aurait fait
        faire font peut peuvent pouvoir doit doivent devoir va vont ne pas non plus moins très trop aussi
        même mêmes tout toute tous toutes autre autres chaque quelque quelques plusieurs peu beaucoup encore
        déjà toujours jamais alors là ici puis comment pourquoi combien tel telle tels telles qu jusqu
        lorsqu puisqu quelqu aujourd hui""",
    "spanish": """
        el la los las lo un una unos unas al del este esta estos estas ese esa esos esas aquel aquella
        aquellos aquellas esto eso aquello yo me mi mis mí tú te ti tu tus él ella ello le les se si sí su
        sus nosotros nosotras nos nuestro nuestra nuestros nuestras vosotros vosotras os vuestro vuestra
        ellos ellas usted ustedes que qué quien quién quienes cual cuál cuales cuyo cuya y e o u ni pero
        sino aunque porque pues como cuando mientras donde dónde cómo cuándo según a ante bajo con contra de
        desde durante en entre hacia hasta mediante para por sin sobre tras es son era eran ser sido siendo
        soy eres somos fue fueron será serán sería sea sean está están estaba estaban estar estado estoy he
        ha han había habían haber hay habrá hubo hemos tiene tienen tenía tener puede pueden poder debe
        deben hace hacer hacen no ni más menos muy mucho mucha muchos muchas poco poca pocos pocas tan tanto
        tanta también tampoco ya aún todavía siempre nunca solo sólo otro otra otros otras mismo misma
        mismos mismas todo toda todos todas cada algo alguno alguna algunos algunas nada ningún ninguno
        ninguna así entonces luego aquí allí ahora antes después""",
    "italian": """
        il lo la i gli le l un uno una del dello della dei degli delle al allo alla ai agli alle dal dallo
        dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col coi questo
        questa questi queste quello quella quelli quelle quel quei io mi me mio mia miei mie tu ti te tuo
        tua tuoi tue egli lui lei gli ne si sé suo sua suoi sue noi ci nostro nostra nostri nostre voi vi
        vostro vostra essi esse loro li che chi cui quale quali e ed o ma né se anche perché poiché mentre
        quando come dove quindi dunque però oppure di a da in con su per tra fra senza sotto sopra verso
        contro durante dopo prima presso è sono era erano essere stato stata stati state sia siano sarà
        saranno sarebbe fu furono sei siamo siete ho ha hai hanno abbiamo avete aveva avevano avere avuto
        abbia avrà può possono potere deve devono fare fa fatto non più meno molto molta molti molte poco
        pochi tanto troppo così già ancora sempre mai solo altro altra altri altre stesso stessa stessi
        tutto tutta tutti tutte ogni qualche alcuni alcune nessuno niente nulla qui là poi ora allora dell
        nell sull dall all quell quest un c d""",
    "dutch": """
        de het een deze dit die dat zulk zulke ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze haar
        wij we ons onze jullie hun hen zich zichzelf men er wie wat welk welke wiens en of maar want dus
        noch als dan toen omdat doordat terwijl hoewel indien voordat nadat zodat tenzij aan achter bij
        binnen boven buiten door in langs met na naar naast om onder op over per sinds te tegen tegenover
        ten ter tijdens tot tussen uit van vanaf via volgens voor zonder ben bent is was waren wees geweest
        word wordt worden werd werden geworden heb hebt heeft hebben had hadden gehad kan kunnen kon konden
        moet moeten moest zal zullen zou zouden wil willen wilde mag mogen doe doet doen deed gaan gaat niet
        geen niets niemand nooit ook nog al wel maar slechts alleen zeer heel erg meer meest minder veel
        vele weinig alle alles allen elk elke ieder iedere iets iemand ander andere anderen enkele sommige
        zelf zelfs hier daar waar wanneer waarom hoe nu toch weer reeds altijd zo eens ooit""",
    "portuguese": """
        o a os as um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas
        este esta estes estas esse essa esses essas aquele aquela aqueles aquelas isto isso aquilo deste
        desta desse dessa neste nesta nesse nessa eu me mim meu minha meus minhas tu te ti teu tua teus tuas
        ele ela lhe lhes se si seu sua seus suas nós nosso nossa nossos nossas vós vos você vocês eles elas
        dele dela deles delas que quem qual quais cujo cuja e ou mas nem porém porque pois como quando
        enquanto se embora onde conforme portanto de em por para com sem sob sobre entre até desde contra
        após ante perante durante é são era eram ser sido sendo sou somos foi foram será serão seria seja
        sejam está estão estava estavam estar estado estou há havia haver houve tem têm tinha tinham ter
        tido tenho temos teve pode podem poder deve devem faz fazer fazem vai vão não mais menos muito muita
        muitos muitas pouco poucos tão tanto também já ainda sempre nunca só apenas outro outra outros
        outras mesmo mesma mesmos mesmas todo toda todos todas tudo cada algum alguma alguns algumas algo
        nada nenhum nenhuma assim então depois antes aqui ali lá agora""",
    "swedish": """
        en ett den det de dem denna detta dessa sådan sådana sådant jag mig min mitt mina du dig din ditt
        dina han honom hans hon henne hennes sin sitt sina sig vi oss vår vårt våra ni er ert era deras dess
        man vem vilka vilken vilket vad vars som och eller men utan för så att om när då medan eftersom fast
        innan tills än samt både varken av bland efter från före genom hos i in inför inom med mellan mot
        ned ner om på sedan sen till trots under upp ur ut utom via vid åt över är var vara varit vore bli
        blir blev blivit har hade ha haft kan kunde kunna skall ska skulle vill ville måste får fick få bör
        borde göra gör gjorde inte ej icke ingen inget inga intet bara också mycket många mer mera mest
        mindre få alla allt all varje någon något några annan annat andra samma själv egen här där hit dit
        nu redan ännu igen alltid aldrig även hur varför vart sådant""",
}

_FUNCTION_WORDS = {
    "arabic": """
        في من على إلى عن مع أن إن التي الذي هذا هذه ذلك تلك كان كانت قد لا لم لن ما هو هي هم أو ثم بعد قبل
        بين عند كل كما حتى إذا لكن غير أي و منذ خلال حيث فيها فيه منها به بها له لها عليه عليها ليس وقد وهو
        ولا وفي ومن""",
    "armenian": """
        և ու է են եմ էր էին որ այս այդ այն մեջ համար հետ մասին նրա նրանք մի իր ոչ չի չէ բայց կամ եթե երբ ինչ
        որը որի որոնք նաև պետք կա ես դու նա մենք նույն շատ հետո մինչև վրա""",
    "basque": """
        eta da ez du bat dira ere hau hori izan baina egin zuen den dute dela edo bere ziren baino zen oso
        behar dago dituzte beste hura ni zu gu haiek nola zer non duen dut dugu bezala gero arte batean
        izango""",
    "catalan": """
        el la els les un una uns unes i de del dels en amb per que és al als no es va ser més com però
        aquest aquesta aquests aquestes seu seva seus seves jo tu ell ella nosaltres ha han hi ho són era
        també molt quan on si perquè sobre entre fins des tot tots tota totes pel pels dins cap ja sense""",
    "czech": """
        a je se na v že to s z do o k i jsem jako ale by za si tak po bylo jsou byl byla být které který
        která od jeho nebo pro při až jen už ve když jak má co není této tento tato také mezi může své ze ke
        před pod""",
    "danish": """
        og i er at en et den det de der som på til af for med han hun jeg du vi ikke har var men om sig sin
        så fra eller blev være kan skal vil også efter ud ved hvor hvis hvad når over under noget nogle hans
        hendes deres denne dette disse mig dig os havde meget mere alle været kunne skulle ville""",
    "esperanto": """
        la kaj de en estas al ke ne mi li ŝi ni vi ili por kun pri sed ĝi kiu kiuj estis aŭ tiu tiuj el ĉu
        kiel se ankaŭ tio ĉi pli tre jam nur da sia havas povas ĝis laŭ inter post antaŭ sur sub""",
    "estonian": """
        ja on ei et see ta oli kui ka aga mis kes oma ning või siis nii kuid mida selle seda ma me te nad
        ole olid veel juba pole välja üle peale nagu vaid kõik mitte sest tema need mille enne pärast kus
        saab""",
    "finnish": """
        ja on ei se että oli hän mutta ovat myös kun joka jotka niin kuin tai sen ole ne olla sitä minä sinä
        me te he mitä mikä jos vain nyt jo ollut olisi kanssa mukaan sekä vielä hänen heidän tämä tämän nämä
        jonka jossa siitä siinä sitten koska kuitenkin noin ennen jälkeen eivät en et emme ette olen olemme
        kaikki enää hyvin voi voidaan""",
    "greek": """
        και το η ο να του της των τα την τον οι στο στη στην στα τις με για από που δεν είναι θα ότι σε ένα
        μια αυτό αλλά ως κατά μετά πολύ όπως ή αν μας σας τους ήταν έχει έχουν μόνο αυτή αυτός μπορεί πριν
        στις στους όταν""",
    "hindi": """
        है के में की का से को और हैं पर यह ने कि था थे थी एक भी नहीं हो ही तो कर इस लिए साथ वह या तक जो अपने
        उन्होंने जा रहा रही रहे गया कुछ बाद इसके अब मैं हम आप वे क्या जब कहा""",
    "hungarian": """
        a az és hogy nem is egy ez azt van volt meg csak de már mint ha vagy ezt azonban még el kell lesz
        lehet én te ő mi ti ők minden ami aki után között által pedig sem úgy így majd ki be fel le szerint
        nagyon több""",
    "indonesian": """
        yang dan di dari untuk dengan ini itu pada tidak dalam adalah akan ke oleh juga sebagai saya kami
        kita dia mereka atau ada karena bisa dapat telah sudah lebih hanya seperti tersebut para bahwa
        menjadi saat secara antara namun belum jika agar""",
    "irish": """
        an na agus is i ar go le a bhí tá sé sí do ag as mar nach ní ach bhfuil siad mé tú muid sin seo faoi
        chun gur nuair nó níl ann leis don sna san atá iad gan idir roimh féin raibh eile""",
    "lithuanian": """
        ir yra kad į su iš tai kaip bet ne ar už jis ji jie jos buvo nuo apie tik jau dar po prie per jo aš
        tu mes jūs šis ši tas ta kurie kuris kuri taip pat labai bus būti gali nes kai dėl iki""",
    "nepali": """
        र छ को मा हो यो पनि गर्न भएको गरेको छन् लागि ले बाट भने थियो एक हुन् त्यो उनी तर गर्ने यस सबै भन्ने
        नै गरी हुने गरे साथ अब के म हामी तपाईं उनले रहेको""",
    "norwegian": """
        og i er at en et ei den det de som på til av for med han hun jeg du vi ikke har var men om seg sin
        så fra eller ble være kan skal vil også etter ut ved hvor hvis hva når over under noe noen hans
        hennes deres denne dette disse meg deg oss hadde mye mer alle vært kunne skulle ville blir""",
    "persian": """
        و در به از که این را با است برای آن یک می تا بر هم شده بود شد او ما شما آنها یا هر اما نیز دیگر خود
        کرد کرده باید نمی باشد هستند نیست اگر پس بین من چه بعد همه پیش ها های شود دارد""",
    "polish": """
        i w na z do nie się to że jest o jak po a co ale za od przez przy dla są był była było być tym tego
        tej ten ta te jego jej ich lub czy już tylko oraz może który która które ze także we pod nad przed
        jako bardzo tak gdy aby mnie mi ja ty my""",
    "romanian": """
        și în de la cu pe nu că o un este sunt din a al ale au pentru mai se care să ca dar sau după prin
        lui ei el ea noi voi acest această aceste fost avea are am fi foarte când până doar între despre cum
        unde dacă lor acum fără""",
    "russian": """
        и в не на что с по как это он она оно они из за к у от так о для но же все был была было были бы то
        мы вы я ты его её ее их или если когда при до уже только также который которая которые этого этой
        этот эта чтобы после во со мне нет еще ещё ни ли может""",
    "serbian": """
        и је у да се на за су са од не као који која које то он она али или из бити био била било би ће смо
        сам овај ова ово до по све још само када што како i je u da se na za su sa od ne kao koji koja koje
        to on ona ali ili iz biti bio bila bilo bi će smo sam ovaj ova ovo do po sve još samo kada što kako""",
    "sesotho": """
        ke le ho a ba ea ka e o ha tsa se oa bo hore la mo sa eo ena empa joalo hape batho bona eona leha re
        oona""",
    "tamil": """
        மற்றும் ஒரு இந்த என்று அந்த ஆகும் உள்ளது இது அது என்ற அவர் அவர்கள் இருந்து இல்லை நான் நாம் நீங்கள்
        என உள்ள வரை மூலம் போது பின்னர் தான் பல மிகவும் கொண்ட இருந்தது ஆனால் அல்லது செய்த இருக்கும்""",
    "turkish": """
        ve bir bu da de için ile olarak çok olan daha en ama gibi ne kadar sonra var değil ki mi o her ben
        sen biz siz onlar şu ya veya hem ise olduğu göre diye oldu olup ancak yok kendi tarafından bütün
        önce""",
    "yiddish": """
        און אין די דער דאָס איז צו פֿון פון מיט אַ אז אַז נישט ניט האָט האט געווען ער זי איך מיר איר זיי
        אויף אָבער אבער ווי פֿאַר אויך זיך וואָס וואס""",
}
"""The most frequent function words of further languages, by which texts are recognised; not lists of stop words."""

_RELATIVES = {
    "afrikaans": """
        die en is van het nie in te wat om dit vir met op ek jy hy sy ons hulle word kan sal moet ook maar as
        aan by deur uit so een na nog geen hierdie daardie was wees haar hom jou my dat al alle of tot oor onder
        tussen waar wie hoe meer baie ander sonder weer net graag hier daar toe dan voor wanneer niks word""",
    "azerbaijani": """
        və bu bir ilə üçün da də olan ki olaraq daha çox ən amma kimi nə qədər sonra var deyil hər mən sən biz
        siz onlar öz bütün yox ancaq isə edilə tərəfindən""",
    "belarusian": """
        не на што па як гэта ён яна яно яны за да ад так для але жа усё быў была было былі то мы вы яго яе іх
        або калі пры ўжо толькі таксама які якая якія каб пасля са яшчэ можа ці для гэты""",
    "bulgarian": """
        на да се за от не са по като че това или но ще при който която което които със във към ако има може още
        само след до той тя те ние бъде беше било без този тази тези когато също между му го ви""",
    "galician": """
        de que do da en un unha os as dos das no na nos nas co coa por para se non é está están foi máis como
        ao aos ás este esta estes estas seu súa seus súas pode ser ou pero tamén cando onde ten teñen hai
        moito todo todos sen sobre entre ata xa nin pola polo dende""",
    "icelandic": """
        og að er til sem ekki við um var með en fyrir af það hann hún það þeir þær þau þetta þessi ég þú við
        hefur hafa eru frá eða ef hvað þegar verið vera þá svo eftir upp út yfir undir sig sér sinn engin""",
    "latin": """
        et in est non ad ut cum quod qui quae sed ex ab sunt esse aut atque nec si hoc per de eius etiam quam
        enim autem nunc iam neque inter sine sub fuit erat""",
    "latvian": """
        un ir ar no par nav kas ka uz tika lai vai bet pie pēc šī šis tas tā to var būt bija kā kad es tu mēs
        jūs viņš viņa viņi ja jau arī tikai vēl līdz ne šo tiek visi viss""",
    "macedonian": """
        на да се за од не со во по како дека ова или но ќе при кој која кое кои кон ако има може уште само до
        тој таа тие ние биде беше без овој оваа овие кога исто ги го ја му што сте сум""",
    "occitan": """
        de que lo la los las un una del dels al als en dins per amb es son pas se aqueste aquesta aqueles o e
        mas coma quand sus entre fins tot totes tota mai plan èsser aver vòstre sens pel pels aquò nòu""",
    "northern sotho": """
        go ya le ka wa ga tša ba ke se mo sa la bja bo gore o e ye yeo tše fao eupša goba gomme gape bona yona
        dira""",
    "scottish gaelic": """
        an na agus air am a bha tha cha chan nach gun bheil le do aig às mar no ach iad mi thu sinn sin seo
        fo gus far nuair ann leis don san anns bho mu nan eadar fhèin robh eile dhut agad""",
    "setswana": """
        go ya le ka wa ga tsa ba ke se mo sa la jwa bo gore o e ye yo tse fa mme kgotsa gape bone yone nna
        rona motho batho""",
    "slovak": """
        je sa na že to do ako ale by za si tak po bolo sú bol bola byť ktoré ktorý ktorá od jeho alebo pre pri
        až len už vo keď má čo nie tejto tento táto tiež medzi môže svoje zo ku pred pod aby iba však nebol
        nebolo nemožno""",
    "slovenian": """
        je in na da se za ni so po kot ali pa iz ki od do pri če ne to ta bi še bil bila bilo biti že le samo
        lahko tudi ker kako kaj sem smo ste ima imajo pred med brez ob jih ga jo mu""",
    "ukrainian": """
        не на що за та як це він вона воно вони до від так для але же все був була було були ми ви його її їх
        або якщо коли при вже лише також який яка які цього цієї цей щоб після зі із із ще може чи у під""",
}
"""Function words of languages without a stemmer that share many with one above, so as not to be taken for it."""

LANGUAGES = tuple(sorted(_WORDS))
"""The languages with a list of stop words."""
RECOGNISED = tuple(sorted((*_WORDS, *_FUNCTION_WORDS)))
"""The languages that are recognised: all that Snowball has a stemmer for."""
_KNOWN = (*RECOGNISED, *_RELATIVES)
CODES = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch",
    "en": "english", "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german",
    "el": "greek", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "no": "norwegian", "fa": "persian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "es": "spanish", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""The languages that are recognised, by their code in ISO 639-1."""

MIN_SHARE = 0.15
"""The least share of stop words at which texts are taken to be in a language; in prose it is about 0.4."""
FEW_WORDS = ((3, 0.08), (12, 0.03))
"""The same for languages known by a few function words: the least number of different ones, and their least share.

One word that another language shares ("bus") proves nothing, and twelve different ones prove much: in titles, and in
languages that join such words to others, they are rare.
"""


@lru_cache(maxsize=len(LANGUAGES))
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language: frequent words that do not tell subjects apart.

    >>> sorted(stop_words("english") & {"the", "grain", "of"})
    ['of', 'the']
    """
    if language not in _WORDS:
        raise UnknownNameError("language of stop words", language, LANGUAGES)
    return frozenset(_WORDS[language].split())


def guess_language(texts: Sequence[str]) -> str | None:
    """The language whose stop words are most frequent in the texts; None if they are rare in all known languages.

    It is also None for a language that has no stemmer but resembles one that has, such as Ukrainian or Galician. Up to
    1000 texts are read, evenly spread, and 400 characters of each, without HTML.

    >>> guess_language(["The bus was late again and nobody told us why."])
    'english'
    >>> guess_language(["Der Bus kam wieder zu spät, und niemand sagte uns, warum."])
    'german'
    >>> guess_language(["Bussi oli taas myöhässä, eikä kukaan sanonut, että se on rikki."])
    'finnish'
    >>> guess_language(["bus late hole road lamp"]) is None
    True
    """
    words = _words_of(texts)
    matches = {language: sum(map(words.__getitem__, _function_words(language))) for language in _KNOWN}
    best = max(_KNOWN, key=matches.__getitem__)
    if best in _WORDS:
        return best if matches[best] >= MIN_SHARE * max(words.total(), 1) else None
    different = len(_function_words(best) & words.keys())
    enough = any(different >= least and matches[best] >= share * words.total() for least, share in FEW_WORDS)
    return best if enough and best not in _RELATIVES else None


def language_shares(text: str, codes: Sequence[str]) -> dict[str, float]:
    """The share of each language in the stop words of a text that any of these languages has; all 0 if there are none.

    >>> shares = language_shares("Der Bus kam wieder zu spät, und niemand sagte uns, warum.", ["de", "en"])
    >>> shares["de"], shares["en"]
    (1.0, 0.0)
    """
    words = _words_of([text])
    matches = {}
    for code in codes:
        if code not in CODES:
            raise UnknownNameError("language", code, CODES)
        matches[code] = sum(map(words.__getitem__, _function_words(CODES[code])))
    return {code: found / max(sum(matches.values()), 1) for code, found in matches.items()}


def _words_of(texts: Sequence[str]) -> Counter[str]:
    """The words of a sample of texts in lower case, and how often each occurs."""
    sample = [text[: 10 * MAX_CHARACTERS] for text in spread(texts)]
    if has_markup(sample):
        sample = [without_markup(text) for text in sample]
    return Counter(
        word
        for text in (text[:MAX_CHARACTERS].lower() for text in sample)
        for word in re.findall(r"\w\w+" if text.isascii() else MARKED_WORDS, text)
    )


@lru_cache(maxsize=len(_KNOWN))
def _function_words(language: str) -> frozenset[str]:
    """The words by which a language is recognised."""
    return frozenset((_WORDS | _FUNCTION_WORDS | _RELATIVES)[language].split())
