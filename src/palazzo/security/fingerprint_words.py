"""The 256 words that represent key fingerprints: one word for each byte.

Written for this purpose: common English nouns of three to eight letters, no two of which begin with the same three
letters. Never change or reorder them: two machines compare the words.
"""

from __future__ import annotations

WORDS = tuple(
    """
    acorn actor agent album alley amber anchor angle animal ankle apple apron arch armor arrow atlas autumn award badge
    bakery banjo barrel basket beach beetle bench berry bicycle bishop blanket bottle branch bread bridge broom bucket
    button cabin cactus camera candle carpet castle cattle celery cement chair cherry circle citrus clock coffee
    comet copper cotton cradle cricket crown cushion dagger daisy dancer decade desert diamond dinner doctor
    dolphin donkey dragon drum eagle earth echo editor elbow elephant empire engine envelope estate evening
    fabric falcon farmer feather fender ferry fiddle finger fisher flame flower forest fossil fox freezer frost
    garden gate gazelle ginger giraffe glacier glove goblet gold grape green guitar hammer harbor hazel helmet herring
    hill hockey honey horse hotel hunter iceberg idol igloo insect island ivory jacket jaguar jelly jewel jigsaw
    joker journal judge jungle kayak kernel kettle kidney kitchen knight ladder lagoon lantern lawyer lemon letter
    library lily lizard lobster lotus lumber magnet maple market meadow medal melon mirror model monkey motor mountain
    muffin museum napkin nation needle nephew nickel nomad north novel nurse oasis object ocean office olive onion
    opera orange orchid ostrich otter oven oyster packet palace panda parrot pebble pencil pepper piano pigeon
    pilot planet pocket poet potato prairie prism puzzle quarry queen quilt rabbit radio raft rainbow ranch
    raven razor ribbon river robin rocket ruby saddle sailor salmon sand satchel school season sheriff signal silver
    singer skate slipper snail soccer sparrow spoon statue summer sunset table tailor temple thunder tiger tomato
    tulip turtle valley velvet violin volcano wagon window zebra
    """.split()
)
